package org.rowankv.bench.paper.cluster;

/**
 * One point of a figure.
 *
 * @param putPercent puts among the operations of clients; the others are gets
 * @param sizes of entries in logs
 * @param clients each sends its next operation when the one before was answered
 * @param workers of each server
 * @param replicas of each entry, the primary's among them
 * @param durationNs simulated time that is measured, after a warm-up
 */
public record ClusterPoint(
        Strategy strategy,
        int putPercent,
        EntrySizes sizes,
        int clients,
        int workers,
        int replicas,
        int dimms,
        long batchAgeNs,
        long durationNs) {
    public static final int SERVERS = 6;

    public ClusterPoint {
        if (replicas < 1 || replicas > SERVERS || workers < 1 || clients < 1) {
            throw new IllegalArgumentException(
                    "no cluster: " + replicas + " replicas, " + workers + " workers, " + clients + " clients");
        }
    }

    public ClusterPoint withPuts(int percent) {
        return new ClusterPoint(strategy, percent, sizes, clients, workers, replicas, dimms, batchAgeNs, durationNs);
    }

    public ClusterPoint withSizes(EntrySizes others) {
        return new ClusterPoint(
                strategy, putPercent, others, clients, workers, replicas, dimms, batchAgeNs, durationNs);
    }

    public ClusterPoint withClients(int count) {
        return new ClusterPoint(strategy, putPercent, sizes, count, workers, replicas, dimms, batchAgeNs, durationNs);
    }

    public ClusterPoint withWorkers(int count) {
        return new ClusterPoint(strategy, putPercent, sizes, clients, count, replicas, dimms, batchAgeNs, durationNs);
    }

    public ClusterPoint withReplicas(int count) {
        return new ClusterPoint(strategy, putPercent, sizes, clients, workers, count, dimms, batchAgeNs, durationNs);
    }

    public ClusterPoint withDimms(int count) {
        return new ClusterPoint(strategy, putPercent, sizes, clients, workers, replicas, count, batchAgeNs, durationNs);
    }

    public ClusterPoint withBatchAge(long ageNs) {
        return new ClusterPoint(strategy, putPercent, sizes, clients, workers, replicas, dimms, ageNs, durationNs);
    }
}
