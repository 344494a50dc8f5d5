package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.log.EntryDescriptor;

/** A scan neither shows a damaged object nor leaves it out: it says so. */
@Timeout(120)
final class DamagedScanTest {
    private static final int LENGTH = 500;
    private static final int KEYS = 20;
    private static final String DAMAGED = "key7";
    private static final int TYPE_AT = 6;
    private static final int EPOCH_AT = 29;
    private static final int CACHE_AT = 36;
    private static final int KEY_LENGTH_AT = 41;
    /** Offset of the expiry in an entry that creates an object: after the request id. */
    private static final int EXPIRY_AT = 64;

    private static final int VALUE_AT = 200;

    private DamagedStore store;
    private RowanClient client;
    private int cache;
    private int otherCache;

    private void open(boolean verifyReads) {
        store = new DamagedStore(with -> with.verifyReads = verifyReads);
        client = store.client;
        cache = client.catalogue().create("cache", new byte[0]).id();
        otherCache = client.catalogue().create("other", new byte[0]).id();
        client.clear(cache); // what looks older looks cleared
        for (int i = 0; i < KEYS; i++) {
            final byte[] key = bytes("key" + i);
            final byte[] stored = value("key" + i, 1, LENGTH);
            final Request put = new Request()
                    .put(cache, key, 0, key.length, stored, 0, stored.length)
                    .ttl(1_000_000, 1_000_000);
            client.execute(put);
            assertThat(put.status()).isEqualTo(Status.OK);
            client.put(otherCache, bytes("key" + i), stored);
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    /** Address of the entry of the damaged key. */
    private long address() {
        return store.find((buffer, at) -> {
            final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
            buffer.get(at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at)), key);
            return EntryDescriptor.cacheId(buffer, at) == cache
                    && new String(key, StandardCharsets.UTF_8).equals(DAMAGED);
        });
    }

    private void flip(long address, int offset) {
        store.flip(address, offset, 4);
    }

    private void lose(long address) {
        store.segments()
                .damage()
                .lost(address, store.segments().generation(store.segments().segmentOf(address)));
    }

    private List<String> scan(int scanned) {
        final List<String> keys = new ArrayList<>();
        final ScanCursor cursor = client.scan(scanned, true);
        while (cursor.hasNext()) {
            keys.add(new String(cursor.next().key(), StandardCharsets.UTF_8));
        }
        return keys;
    }

    private static void requireCorrupted(ThrowingCallable scan) {
        assertThatThrownBy(scan)
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.CORRUPTED));
    }

    /** One bit, by which the entry holds no object, is unreadable, looks cleared, or over. */
    @ParameterizedTest
    @CsvSource({TYPE_AT + ",4", KEY_LENGTH_AT + ",4", EPOCH_AT + ",2", (EXPIRY_AT + 5) + ",1"})
    void shouldNotLeaveOutAnObjectWhoseHeaderIsDamaged(int offset, int mask) {
        open(false);
        final long address = address();
        store.flip(address, offset, mask);
        requireCorrupted(() -> scan(cache));
        assertThat(scan(otherCache)).hasSize(KEYS);
        store.flip(address, offset, mask);
        assertThat(scan(cache)).hasSize(KEYS);
    }

    /** The entry names a cache that has no objects: it may be of any. */
    @Test
    void shouldNotLeaveOutAnObjectWhoseCacheIsDamaged() {
        open(false);
        final long address = address();
        flip(address, CACHE_AT);
        requireCorrupted(() -> scan(cache));
        flip(address, CACHE_AT);
        assertThat(scan(cache)).hasSize(KEYS);
    }

    @ParameterizedTest
    @ValueSource(ints = {TYPE_AT, EPOCH_AT, KEY_LENGTH_AT, EXPIRY_AT, VALUE_AT})
    void shouldShowNothingDamagedWhereReadsAreVerified(int offset) {
        open(true);
        flip(address(), offset);
        requireCorrupted(() -> scan(cache));
    }

    @Test
    void shouldNotShowAnObjectThatIsKnownToBeDamaged() {
        open(false);
        final long address = address();
        flip(address, VALUE_AT);
        lose(address);
        requireCorrupted(() -> scan(cache));
        assertThat(scan(otherCache)).hasSize(KEYS);
    }

    @Test
    void shouldGoOnOnceTheDamagedObjectIsReplacedOrCleared() {
        open(false);
        long address = address();
        flip(address, VALUE_AT);
        lose(address);
        client.put(cache, bytes(DAMAGED), value(DAMAGED, 2, LENGTH));
        assertThat(scan(cache)).hasSize(KEYS);

        address = address();
        flip(address, VALUE_AT);
        lose(address);
        requireCorrupted(() -> scan(cache));
        client.clear(cache);
        assertThat(scan(cache)).isEmpty();
    }
}
