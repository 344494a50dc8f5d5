package org.rowankv.check.verify;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.rowankv.check.area.AreaComparison;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;

/** Servers in this JVM, on a directory, so that what each of them holds can be compared without asking it. */
public final class EmbeddedStore implements StoreUnderTest {
    private static final long CAPACITY_BYTES = 64L << 20;
    private static final int SEGMENT_BYTES = 512 << 10;
    private static final int SHARDS = 16;

    private final int servers;
    private final Path directory;
    private final EmbeddedCluster cluster;

    public EmbeddedStore(int servers, int replicas, int callers, Path directory) {
        this.servers = servers;
        this.directory = directory;
        this.cluster = EmbeddedCluster.open(EmbeddedSettings.builder()
                .servers(servers)
                .replicas(replicas)
                .dir(directory)
                .capacityBytes(CAPACITY_BYTES)
                .segmentBytes(SEGMENT_BYTES)
                .shards(SHARDS)
                .workers(callers)
                .build());
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
        return Map.of();
    }

    @Override
    public List<String> closeAndCompareReplicas() {
        final Configuration configuration = cluster.session().configuration();
        cluster.awaitDigested();
        cluster.close();
        try {
            return AreaComparison.differences(directory, configuration);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        cluster.close();
    }
}
