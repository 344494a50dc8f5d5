package org.rowankv.bench.store;

/** Theoretical copy cost of a log-structured store, approximate, under uniformly random overwrites. */
final class CopyTheory {
    private CopyTheory() {}

    /**
     * Bytes copied per byte written. Segments are cleaned in the order they were written, and a share {@code alpha} of
     * all bytes is live. Then a victim's live share u satisfies alpha = (1 − u) / −ln u (Menon 1995, Robinson 1996;
     * Desnoyers 2012 gives the closed form by Lambert's W); to gain 1 − u, u is copied. With large segments, choosing
     * the emptiest one gives nearly the same result: under uniform overwrites the oldest is about the emptiest.
     *
     * @param alpha live bytes divided by the bytes of all segments that hold data, between 0 and 1
     */
    static double copiedPerWritten(double alpha) {
        double low = 0;
        double high = 1 - 1e-9;
        for (int i = 0; i < 100; i++) {
            final double u = (low + high) / 2;
            if ((1 - u) / -Math.log(u) < alpha) {
                low = u;
            } else {
                high = u;
            }
        }
        return low / (1 - low);
    }
}
