package org.rowankv.bench.paper.cluster;

import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;

/**
 * Lengths of log entries: objects about a mean, metadata, padding.
 *
 * @param object mean bytes of key and value
 * @param deviation their standard deviation; 0 means all alike
 * @param metadata bytes of an entry beside them
 */
public record EntrySizes(String name, double object, double deviation, int metadata) {
    /** Header, checksum, version and lengths in the paper's layout. */
    public static final int PAPERS_METADATA = 16;

    /** Ours: the fixed part, the client's request, and the previous version. */
    public static final int OUR_METADATA = 48 + 16 + 8;

    private static final int UNIFORMS = 3;

    /** Means are the paper's; deviations those of the study that it cites (FAST'20), of key and value together. */
    public static EntrySizes zippyDb(int metadata) {
        return new EntrySizes("zippydb", 90.8, 26.4, metadata);
    }

    public static EntrySizes up2x(int metadata) {
        return new EntrySizes("up2x", 57.25, 11.7, metadata);
    }

    public static EntrySizes udb(int metadata) {
        return new EntrySizes("udb", 153.8, 22.3, metadata);
    }

    /** Entries of one length. */
    public static EntrySizes fixed(int length) {
        return new EntrySizes(length + " B", length, 0, 0);
    }

    /** Draws a length. About normal: three uniform numbers have a deviation of a half. */
    int draw(EntityRandom random) {
        double sum = 0;
        for (int i = 0; i < UNIFORMS; i++) {
            sum += random.fraction();
        }
        final double drawn = object + deviation * 2 * (sum - UNIFORMS / 2.0);
        return padded(Math.max(1, (int) Math.round(drawn)) + metadata);
    }

    private static int padded(int length) {
        return (length + Costs.PADDING - 1) / Costs.PADDING * Costs.PADDING;
    }
}
