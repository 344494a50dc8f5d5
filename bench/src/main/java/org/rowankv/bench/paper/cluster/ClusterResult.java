package org.rowankv.bench.paper.cluster;

import org.HdrHistogram.Histogram;

/**
 * Figures of one run.
 *
 * @param millionsPerSecond operations of all clients
 * @param puts nanoseconds from sending to reply
 * @param gets the same of gets
 * @param persists nanoseconds from posting an entry, or a batch, to the acknowledgement of one backup
 * @param amplification bytes written to the media per byte requested, of all servers
 * @param requestGbps of one server
 * @param mediaGbps of one server
 */
public record ClusterResult(
        double millionsPerSecond,
        Histogram puts,
        Histogram gets,
        Histogram persists,
        double amplification,
        double requestGbps,
        double mediaGbps) {}
