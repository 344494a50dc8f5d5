package org.rowankv.check.cluster;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.daemon.local.LocalCluster;

/**
 * Counters of the servers, summed over their processes; a killed process counts with its last report. Confined to one
 * thread.
 */
final class ServerCounts {
    private record Counts(long staleTerms, long joinedRetries) {}

    private final LocalCluster cluster;
    private final Map<String, Counts> byProcess = new HashMap<>();

    ServerCounts(LocalCluster cluster) {
        this.cluster = cluster;
    }

    /** Queries all servers, which must be serving. */
    void ask() throws IOException {
        for (int server = 0; server < cluster.shape().servers(); server++) {
            final Map<String, String> status = cluster.statusOf(server);
            byProcess.put(
                    server + " " + status.getOrDefault("pid", ""),
                    new Counts(
                            Long.parseLong(status.getOrDefault("stale-terms", "0")),
                            Long.parseLong(status.getOrDefault("retries-joined", "0"))));
        }
    }

    /** Requests sent with a stale term. */
    long staleTerms() {
        return byProcess.values().stream().mapToLong(Counts::staleTerms).sum();
    }

    /** Retries that found the effect of their first attempt. */
    long joinedRetries() {
        return byProcess.values().stream().mapToLong(Counts::joinedRetries).sum();
    }
}
