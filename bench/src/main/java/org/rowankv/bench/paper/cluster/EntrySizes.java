package org.rowankv.bench.paper.cluster;

import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.report.ObjectSizes;

/**
 * Lengths of log entries: objects about a mean, metadata, padding.
 *
 * @param metadata bytes of an entry beside its object
 */
public record EntrySizes(ObjectSizes objects, int metadata) {
    /** Header, checksum, version and lengths in the paper's layout. */
    public static final int PAPERS_METADATA = 16;

    /** Ours: the fixed part, the client's request, and the previous version. */
    public static final int OUR_METADATA = 48 + 16 + 8;

    private static final int UNIFORMS = 3;

    /** Entries of one length. */
    public static EntrySizes fixed(int length) {
        return new EntrySizes(ObjectSizes.fixed(length), 0);
    }

    /** Draws a length. About normal: three uniform numbers have a deviation of a half. */
    int draw(EntityRandom random) {
        double sum = 0;
        for (int i = 0; i < UNIFORMS; i++) {
            sum += random.fraction();
        }
        final double drawn = objects.mean() + objects.deviation() * 2 * (sum - UNIFORMS / 2.0);
        return padded(Math.max(1, (int) Math.round(drawn)) + metadata);
    }

    private static int padded(int length) {
        return (length + Costs.PADDING - 1) / Costs.PADDING * Costs.PADDING;
    }
}
