package org.rowankv.runtime;

/**
 * Fails early on a thread that has nearly used up its stack: before something is begun that must not be left in the
 * middle. A thread may be at any depth when it calls us, an application's recursion for example.
 *
 * <p>Does not guarantee that what follows fits: that needs more care there. It makes the alternative rare.
 */
public final class StackProbe {
    private static final int DEPTH = 32;
    private static final int MUCH = 1024;

    private StackProbe() {}

    /** Throws StackOverflowError unless so many more frames fit. */
    public static void require() {
        if (descend(DEPTH, 1, 2, 3, 4) == 0) {
            throw new AssertionError();
        }
    }

    /** As {@link #require()}, with so many frames. They are small ones, at about a nanosecond each. */
    public static void require(int frames) {
        if (descend(frames, 1, 2, 3, 4) == 0) {
            throw new AssertionError();
        }
    }

    /** Whether there is room for much: for work of somebody else's. */
    public static boolean hasMuch() {
        try {
            require(MUCH);
            return true;
        } catch (StackOverflowError e) {
            return false;
        }
    }

    @SuppressWarnings("InfiniteRecursion")
    private static long descend(int depth, long a, long b, long c, long d) {
        return depth == 0 ? a + b + c + d : descend(depth - 1, b, c, d, a + 1) | 1;
    }
}
