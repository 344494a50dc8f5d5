package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.log.EntryDescriptor;

/** Evictions and the sweep of expired objects go on beside an object whose key has a length that cannot be. */
@Timeout(120)
final class DamagedRetentionTest {
    private static final int OBJECTS = 100;
    private static final int LENGTH = 100;
    private static final int KEY_LENGTH_TOP_BYTE = 43;

    private DamagedStore store;
    private RowanClient client;
    private int cache;

    private void open() {
        store = new DamagedStore();
        client = store.client;
        cache = client.catalogue().create("cache", new byte[0]).id();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void put(int number, long lifetimeMs) {
        final byte[] key = bytes("key" + number);
        final byte[] stored = value("key" + number, 1, LENGTH);
        final Request put = new Request().put(cache, key, 0, key.length, stored, 0, stored.length);
        client.execute(lifetimeMs == 0 ? put : put.ttl(lifetimeMs, lifetimeMs));
        assertThat(put.status()).isEqualTo(Status.OK);
    }

    private void damageOne(int mask) {
        final long address = store.find((buffer, at) -> EntryDescriptor.cacheId(buffer, at) == cache);
        store.flip(address, KEY_LENGTH_TOP_BYTE, mask);
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
