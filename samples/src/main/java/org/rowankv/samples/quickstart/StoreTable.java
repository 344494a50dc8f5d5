package org.rowankv.samples.quickstart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.cache.CacheManager;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.engine.ServerStatistics;

/** Human-readable statistics of the servers. */
final class StoreTable {
    private final List<ServerStatistics> servers;

    private StoreTable(List<ServerStatistics> servers) {
        this.servers = servers;
    }

    /** Taken once the backup logs are digested, so that the replicas' numbers are comparable. */
    static StoreTable of(CacheManager manager) {
        final EmbeddedCluster cluster = manager.unwrap(EmbeddedCluster.class);
        cluster.awaitDigested();
        return new StoreTable(cluster.statistics());
    }

    List<String> lines() {
        final List<String> lines = new ArrayList<>();
        lines.add("  server   bytes to t-log   bytes to b-log   segments: free  using   used  committed");
        for (ServerStatistics server : servers) {
            lines.add(String.format(
                    Locale.ROOT,
                    "  %6d %,16d %,16d   %14d %6d %6d %10d",
                    server.serverId(),
                    server.tLogBytes(),
                    server.bLogBytes(),
                    server.segments().free(),
                    server.segments().using(),
                    server.segments().used(),
                    server.segments().committed()));
        }
        return lines;
    }
}
