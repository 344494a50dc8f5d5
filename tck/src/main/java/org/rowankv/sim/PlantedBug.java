package org.rowankv.sim;

/**
 * A known mistake: one place of the production code, written as it must not be. The code itself knows nothing of it: it is
 * changed on its way from the source to the class.
 *
 * @param module of the class
 * @param type its name
 * @param right what stands in its source, once
 * @param wrong what is planted there
 */
public record PlantedBug(String name, String module, String type, String right, String wrong) {
    public String sourcePath() {
        return module + "/src/main/java/" + type.replace('.', '/') + ".java";
    }

    /** The source with the bug in it. */
    public String plantIn(String source) {
        final int at = source.indexOf(right);
        if (at < 0 || source.indexOf(right, at + 1) >= 0) {
            throw new IllegalStateException("the planted bug '" + name + "' does not fit " + sourcePath()
                    + " any more: its text must stand there exactly once");
        }
        return source.substring(0, at) + wrong + source.substring(at + right.length());
    }
}
