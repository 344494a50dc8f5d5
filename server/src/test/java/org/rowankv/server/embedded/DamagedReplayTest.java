package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** A retry of an applied mutation whose entry, which holds the old value, was damaged since. */
@Timeout(120)
final class DamagedReplayTest {
    private static final int LENGTH = 500;
    private static final String KEY = "damaged";
    private static final long SESSION = 77;
    private static final int FLAGS_AT = 32;
    private static final int VALUE_LENGTH_AT = 44;

    private DamagedStore store;
    private RowanClient client;
    private int cache;
    private Request first;

    @BeforeEach
    void open() {
        store = new DamagedStore();
        client = store.client;
        cache = Stores.cache(client);
        assertThat(Stores.openSession(store.cluster, 0, SESSION).status()).isEqualTo(Status.OK);
        deliver(1, 1);
        first = deliver(2, 2);
        assertThat(numberOf(KEY, first.resultBytes())).isEqualTo(1);
    }

    @AfterEach
    void close() {
        store.close();
    }

    /** A put that returns the value it replaces. */
    private Request deliver(long sequence, long number) {
        final byte[] stored = value(KEY, number, LENGTH);
        final Request put = new Request()
                .put(cache, bytes(KEY), 0, KEY.length(), stored, 0, stored.length)
                .requestValue(true);
        final KeyHash keyHash = new KeyHash(store.cluster.configuration().hashSeed());
        final long hash = keyHash.hash(cache, bytes(KEY), 0, KEY.length());
        put.placed(hash, ShardMap.shardOf(hash, store.cluster.configuration().shardCount()));
        put.identified(SESSION, sequence, 0);
        store.cluster.session().call(put);
        return put;
    }

    private void flip(int offset) {
        final long address = store.find((buffer, at) -> true);
        final int used = EntryDescriptor.usedLength(store.buffer(address), store.offset(address));
        store.flip(address, offset < 0 ? used + offset : offset, EntryDescriptor.HAS_OLD_VALUE);
    }

    /** {@code offset} of the flipped bit; negative: from the end of the old value. */
    @ParameterizedTest
    @ValueSource(ints = {FLAGS_AT, VALUE_LENGTH_AT, -1, -LENGTH / 2})
    void shouldNotAnswerWithAnOldValueOfADamagedEntry(int offset) {
        flip(offset);
        final Request again = deliver(2, 2);
        assertThat(again.status()).as("not CORRUPTED: it was applied").isEqualTo(Status.NO_REPLY);
        assertThat(again.hasResult()).isFalse();
    }

    @Test
    void shouldAnswerARetryOnceTheEntryIsRepaired() {
        flip(-1);
        assertThat(deliver(2, 2).status()).isEqualTo(Status.NO_REPLY);
        flip(-1);
        final Request again = deliver(2, 2);
        assertThat(again.status()).isEqualTo(Status.OK);
        assertThat(again.has(ResultBits.REPLAYED)).isTrue();
        assertThat(again.version()).isEqualTo(first.version());
        assertThat(again.resultBytes()).isEqualTo(first.resultBytes());
    }

    /** The value would get a valid checksum as the old value of the next change. */
    @Test
    void shouldNotLogADamagedObjectAsAnOldValue() {
        flip(-LENGTH - 10);
        assertThat(deliver(3, 3).status()).isEqualTo(Status.CORRUPTED);
    }
}
