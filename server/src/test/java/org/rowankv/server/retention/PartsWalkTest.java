package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.topology.PartKeys;

/** Parts without a list are found, unless something damaged may be their list. */
class PartsWalkTest {
    private static final int CACHE = 3;
    private static final byte[] KEY = "k".getBytes(StandardCharsets.US_ASCII);

    private final OnePrimary store = new OnePrimary();
    private final PartKeys keys = store.replica.partKeys();

    private void putParts(long id, int count) {
        for (int number = 0; number < count; number++) {
            final byte[] key = keys.key(Parts.of(CACHE), 0, id, number);
            store.put(new Request().put(Parts.of(CACHE), key, 0, key.length, key, 0, 10));
        }
    }

    private void putList(long id) {
        final byte[] list = new PartList(id, 30, 10, 0).toBytes();
        store.put(new Request()
                .put(CACHE, KEY, 0, KEY.length, list, 0, list.length)
                .inParts(true));
    }

    private PartsWalk walk(boolean verifies) {
        final PartsWalk walk = new PartsWalk(store.segments, store.primary, verifies);
        while (!walk.advance()) {
            // buckets are left
        }
        return walk;
    }

    @Test
    void shouldFindPartsWithoutAList() {
        putParts(1, 3);
        putParts(2, 4);
        putList(1);
        for (int i = 0; i < 300; i++) {
            store.put(CACHE, "other" + i, 10, Long.MAX_VALUE);
        }
        final PartsWalk walk = walk(true);
        assertThat(walk.isDamaged()).isFalse();
        assertThat(walk.orphans()).containsOnlyKeys(2L);
        assertThat(walk.orphans().get(2L).count()).isEqualTo(4);
        assertThat(walk.orphans().get(2L).partsId()).isEqualTo(Parts.of(CACHE));
    }

    /** A flipped bit would make a list an ordinary value, and its parts orphans. */
    @Test
    void shouldBeOfNoUseWhenAListMayBeDamaged() {
        putParts(1, 3);
        putList(1);
        final long address = store.addressOf(CACHE, "k");
        final ByteBuffer entry = store.segments.region().buffer(address);
        final int flagsAt = store.segments.region().offset(address) + 33;
        entry.put(flagsAt, (byte) (entry.get(flagsAt) ^ 0x80));
        assertThat(walk(false).orphans()).as("what the first walk sees").containsOnlyKeys(1L);
        assertThat(walk(true).isDamaged()).isTrue();
    }

    @Test
    void shouldNotCountWhatAClearHasEnded() {
        putParts(1, 3);
        putList(1);
        store.clear(CACHE);
        assertThat(walk(true).orphans()).isEmpty();
    }
}
