package org.rowankv.check.verify;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.rowankv.check.area.AreaComparison;
import org.rowankv.driver.api.Session;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.topology.Configuration;

/** Servers in this JVM, on a directory, so that their contents can be compared by their files. */
public final class EmbeddedStoreUnderTest implements StoreUnderTest {
    // Filled within seconds, so that the cleaner runs for most of a run.
    private static final long CAPACITY_BYTES = 24L << 20;
    private static final int SEGMENT_BYTES = 256 << 10;
    private static final int SHARDS = 16;

    private final int servers;
    private final Path directory;
    private final EmbeddedCluster cluster;

    public EmbeddedStoreUnderTest(int servers, int replicas, int callers, Path directory) {
        this.servers = servers;
        this.directory = directory;
        this.cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = directory;
            with.capacityBytes = CAPACITY_BYTES;
            with.segmentBytes = SEGMENT_BYTES;
            with.shards = SHARDS;
            with.workers = callers;
        }));
    }

    @Override
    public Session session() {
        return cluster.session();
    }

    @Override
    public int servers() {
        return servers;
    }

    @Override
    public void fenceLink(int from, int to) {
        cluster.fenceLink(from, to);
    }

    @Override
    public Map<String, Long> counters() {
        final Map<String, Long> counters = new TreeMap<>();
        for (ServerStatistics server : cluster.statistics()) {
            counters.merge("bytes written to t-logs", server.tLogBytes(), Long::sum);
            counters.merge("bytes digested from b-logs", server.bLogBytes(), Long::sum);
            counters.merge("bytes relocated by cleaners", server.relocatedBytes(), Long::sum);
            counters.merge("segments cleaned", server.cleanedSegments(), Long::sum);
            counters.merge("senders fenced for a hole", server.holesFenced(), Long::sum);
            counters.merge("connections made again", server.reconnects(), Long::sum);
            counters.merge("receiver not ready", server.notReady(), Long::sum);
        }
        return counters;
    }

    @Override
    public List<String> failures() {
        return cluster.errors().distinct().stream()
                .map(failure -> failure.where() + ": " + failure.type() + ": " + failure.message() + " ("
                        + failure.count() + " times)")
                .toList();
    }

    @Override
    public List<String> closeAndCompareReplicas() {
        final Configuration configuration = cluster.session().configuration();
        cluster.awaitDigested();
        cluster.close();
        return AreaComparison.differences(directory, configuration);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
