package org.rowankv.bench.paper.figure;

import java.util.List;
import org.rowankv.bench.paper.cluster.EntrySizes;
import org.rowankv.bench.report.ObjectSizes;

/**
 * How much is simulated.
 *
 * @param clients numbers of clients of a curve, in ascending order; the last reaches the peak
 * @param streams numbers of streams of a curve, 90, 108, 126 and 144 among them
 * @param clusterNs simulated time of a run of the cluster
 * @param streamNs simulated time of a run of one server
 * @param tracedObjects objects of the traced store, which has five operations on each
 * @param metadata bytes of an entry beside key and value
 * @param spreadPercent of the deviation of objects' sizes
 */
public record Scale(
        List<Integer> clients,
        List<Integer> streams,
        long clusterNs,
        long streamNs,
        int tracedObjects,
        int metadata,
        int spreadPercent,
        boolean quick) {
    public static Scale full(int metadata, int spreadPercent) {
        return new Scale(
                List.of(60, 120, 240, 480, 900, 1300, 1800, 2400),
                List.of(18, 36, 54, 72, 90, 108, 126, 144, 162, 180),
                1_000_000,
                2_000_000,
                200_000,
                metadata,
                spreadPercent,
                false);
    }

    /** For each build: the same bars, fewer points between them, shorter runs. */
    public static Scale quick(int metadata, int spreadPercent) {
        return new Scale(
                List.of(60, 480, 1300, 2400),
                List.of(36, 90, 108, 126, 144, 180),
                400_000,
                1_000_000,
                10_000,
                metadata,
                spreadPercent,
                true);
    }

    /** Entries with objects of these sizes. */
    EntrySizes entries(ObjectSizes objects) {
        return new EntrySizes(objects.withSpread(spreadPercent), metadata);
    }

    public int leastClients() {
        return clients.get(0);
    }

    public int mostClients() {
        return clients.get(clients.size() - 1);
    }
}
