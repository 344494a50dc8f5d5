package org.rowankv.runtime;

/**
 * Fails early on a thread that has nearly used up its stack: before something is begun that must not be left in the
 * middle. A thread may be at any depth when it calls us, an application's recursion for example.
 *
 * <p>Does not guarantee that what follows fits: that needs more care there. It makes the alternative rare.
 */
public final class StackProbe {
    private StackProbe() {}

    /** Throws StackOverflowError unless so many more frames fit. */
    public static void require(int frames) {
        if (descend(frames, 1, 2, 3, 4) == 0) {
            throw new AssertionError();
        }
    }

    @SuppressWarnings("InfiniteRecursion")
    private static long descend(int depth, long a, long b, long c, long d) {
        return depth == 0 ? a + b + c + d : descend(depth - 1, b, c, d, a + 1) | 1;
    }
}
