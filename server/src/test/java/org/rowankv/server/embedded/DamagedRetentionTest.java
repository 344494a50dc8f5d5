package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.EntryDescriptor;

/** Evictions and the sweep of expired objects go on beside an object whose key has a length that cannot be. */
@Timeout(120)
final class DamagedRetentionTest {
    private static final int OBJECTS = 100;
    private static final int LENGTH = 100;
    private static final int KEY_LENGTH_TOP_BYTE = 43;

    private EmbeddedCluster cluster;
    private RowanClient client;
    private int cache;

    private void open() {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 1;
            with.replicas = 1;
            with.shards = 1;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.scrubMibPerSecond = 0;
        }));
        client = Stores.client(cluster);
        cache = client.catalogue().create("cache", new byte[0]).id();
    }

    @AfterEach
    void close() {
        client.close();
        cluster.close();
    }

    private void put(int number, long lifetimeMs) {
        final byte[] key = bytes("key" + number);
        final byte[] stored = value("key" + number, 1, LENGTH);
        final Request put = new Request().put(cache, key, 0, key.length, stored, 0, stored.length);
        client.execute(lifetimeMs == 0 ? put : put.ttl(lifetimeMs, lifetimeMs));
        assertThat(put.status()).isEqualTo(Status.OK);
    }

    private void damageOne(int mask) {
        final Server server = cluster.servers().get(0);
        final AtomicLong found = new AtomicLong();
        server.replicas().get(0).index().lock(1 << 22);
        try {
            long position = 0;
            do {
                position = server.replicas().get(0).index().visit(position, found::set);
            } while (position != 0 && found.get() == 0);
        } finally {
            server.replicas().get(0).index().unlock();
        }
        final ByteBuffer buffer = server.segments().region().buffer(found.get());
        final int at = server.segments().region().offset(found.get());
        assertThat(EntryDescriptor.cacheId(buffer, at)).isEqualTo(cache);
        buffer.put(at + KEY_LENGTH_TOP_BYTE, (byte) mask);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x80, 0x40})
    void shouldEvictOthers(int mask) {
        open();
        for (int i = 0; i < OBJECTS; i++) {
            put(i, 0);
        }
        damageOne(mask);
        client.catalogue().limit("cache", new CacheLimit(OBJECTS / 2, 0));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(client.catalogue().objects(cache)).isLessThanOrEqualTo(OBJECTS / 2));
        put(OBJECTS, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x80, 0x40})
    void shouldSweepOthers(int mask) {
        open();
        for (int i = 0; i < OBJECTS; i++) {
            put(i, 1_000);
        }
        damageOne(mask);
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(client.catalogue().objects(cache)).isLessThanOrEqualTo(OBJECTS / 2));
        put(OBJECTS, 0);
    }
}
