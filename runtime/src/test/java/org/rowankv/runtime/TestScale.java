package org.rowankv.runtime;

/** Sizes of long tests: those of a build, or, with {@code mvn verify -Pall}, those that find more. */
public final class TestScale {
    private static final boolean ALL = "all".equals(System.getProperty("rowan.test.scale"));

    private TestScale() {}

    /**
     * One of two sizes.
     *
     * @param build in {@code mvn verify}
     * @param all in {@code mvn verify -Pall}
     */
    public static int of(int build, int all) {
        return ALL ? all : build;
    }
}
