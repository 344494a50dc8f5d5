package org.rowankv.runtime;

/**
 * Fails early on a thread that has nearly used up its stack: before something is begun that must not be left in the
 * middle. A thread may be at any depth when it calls us, an application's recursion for example.
 *
 * <p>Does not guarantee that what follows fits: that needs more care there. It makes the alternative rare.
 */
public final class StackProbe {
    private StackProbe() {}

    /** Throws StackOverflowError unless so many more frames of a hundred bytes or so fit. */
    public static void require(int frames) {
        if (descend(frames, 1, 2, 3, 4, 5, 6, 7, 8) == 0) {
            throw new AssertionError();
        }
    }

    /**
     * Few and large frames: a processor predicts the returns of some thirty calls, and each beyond costs as much as ten
     * others. What is used behind the call has to be kept in the frame.
     */
    private static long descend(int depth, long a, long b, long c, long d, long e, long f, long g, long h) {
        if (depth == 0) {
            return 1;
        }
        final long deeper = descend(depth - 1, b, c, d, e, f, g, h, a + 1);
        return deeper | a + b + c + d + e + f + g + h;
    }
}
