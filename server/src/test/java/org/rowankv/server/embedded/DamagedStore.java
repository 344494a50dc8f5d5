package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.rowankv.driver.RowanClient;
import org.rowankv.server.engine.Server;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.Segments;

/** A store of one server and one shard in which a test flips bits. No scrubber looks for them. */
final class DamagedStore implements AutoCloseable {
    private static final int LOCK_OWNER = 1 << 22;

    final EmbeddedCluster cluster;
    final RowanClient client;

    DamagedStore() {
        this(with -> {});
    }

    DamagedStore(Consumer<EmbeddedSettings.Builder> more) {
        final Consumer<EmbeddedSettings.Builder> small = with -> {
            with.servers = 1;
            with.replicas = 1;
            with.shards = 1;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.scrubMibPerSecond = 0;
        };
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(small.andThen(more)));
        client = Stores.client(cluster);
    }

    Server server() {
        return cluster.servers().get(0);
    }

    Segments segments() {
        return server().segments();
    }

    ByteBuffer buffer(long address) {
        return segments().region().buffer(address);
    }

    int offset(long address) {
        return segments().region().offset(address);
    }

    /** Selects an entry. */
    @FunctionalInterface
    interface Match {
        boolean matches(ByteBuffer buffer, int at);
    }

    /** The address of an entry to which the index refers. */
    long find(Match match) {
        final ShardIndex index = server().replicas().get(0).index();
        final long[] found = new long[1];
        index.lock(LOCK_OWNER);
        try {
            long position = 0;
            do {
                position = index.visit(position, address -> {
                    if (match.matches(buffer(address), offset(address))) {
                        found[0] = address;
                    }
                });
            } while (position != 0);
        } finally {
            index.unlock();
        }
        assertThat(found[0]).isPositive();
        return found[0];
    }

    /** Flips bits of the byte at that offset of an entry. */
    void flip(long address, int offset, int mask) {
        final int at = offset(address) + offset;
        buffer(address).put(at, (byte) (buffer(address).get(at) ^ mask));
    }

    @Override
    public void close() {
        client.close();
        cluster.close();
    }
}
