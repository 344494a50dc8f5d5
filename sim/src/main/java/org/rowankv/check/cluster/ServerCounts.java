package org.rowankv.check.cluster;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.rowankv.daemon.local.LocalCluster;

/** Counts that servers keep, added up over their processes: a process that was killed counts with what it said last. For one thread. */
final class ServerCounts {
    private record Counts(long staleTerms, long joinedRetries) {}

    private final LocalCluster cluster;
    private final Map<String, Counts> byProcess = new HashMap<>();

    ServerCounts(LocalCluster cluster) {
        this.cluster = cluster;
    }

    /** Asks all servers, which have to serve. */
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

    /** Requests that were sent with an old term. */
    long staleTerms() {
        return byProcess.values().stream().mapToLong(Counts::staleTerms).sum();
    }

    /** Repeated requests that found what their first attempt had done. */
    long joinedRetries() {
        return byProcess.values().stream().mapToLong(Counts::joinedRetries).sum();
    }
}
