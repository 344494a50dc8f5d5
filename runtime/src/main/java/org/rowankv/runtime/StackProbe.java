package org.rowankv.runtime;

/**
 * Check for remaining thread stack that fails before a step begins which must not stop halfway. A caller may be at any
 * stack depth, for example inside an application's recursion.
 *
 * <p>Does not guarantee that the following code fits; that code needs its own protection. The probe makes an overflow
 * there rare.
 */
public final class StackProbe {
    private StackProbe() {}

    /** Throws StackOverflowError unless about this many more frames of 100 bytes fit. */
    public static void require(int frames) {
        if (descend(frames, 1, 2, 3, 4, 5, 6, 7, 8) == 0) {
            throw new AssertionError();
        }
    }

    /**
     * Uses few, large frames: a processor predicts the returns of about thirty calls, and each call beyond costs as
     * much as ten others. Values used after the call must stay in the frame.
     */
    private static long descend(int depth, long a, long b, long c, long d, long e, long f, long g, long h) {
        if (depth == 0) {
            return 1;
        }
        final long deeper = descend(depth - 1, b, c, d, e, f, g, h, a + 1);
        return deeper | a + b + c + d + e + f + g + h;
    }
}
