package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jvm")
@net.jqwik.api.Tag("jvm")
class KeyHashTest {
    private static final String GOLDEN_EMPTY = "b4cb14dbe0be94b2";
    private static final String GOLDEN_A = "c6175b6e03ad7b17";
    private static final String GOLDEN_8 = "7b626943d4f21158";
    private static final String GOLDEN_20 = "4ab8804c4c0f473f";

    private final KeyHash hash = new KeyHash(0x1234_5678_9abc_def0L);

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The hash is part of the format on disk: these numbers never change. */
    @Test
    void shouldGiveTheSameHashesForEver() {
        assertThat(golden("")).isEqualTo(GOLDEN_EMPTY);
        assertThat(golden("a")).isEqualTo(GOLDEN_A);
        assertThat(golden("key-0001")).isEqualTo(GOLDEN_8);
        assertThat(golden("user0000000000000001")).isEqualTo(GOLDEN_20);
    }

    private String golden(String key) {
        final byte[] bytes = bytes(key);
        return Long.toHexString(hash.hash(1, bytes, 0, bytes.length));
    }

    @Property(tries = 500)
    void shouldReadOnlyTheKeysOwnBytes(@ForAll @Size(max = 70) byte[] key, @ForAll @IntRange(max = 9) int offset) {
        final byte[] framed = new byte[offset + key.length + 3];
        new java.util.Random(1).nextBytes(framed);
        System.arraycopy(key, 0, framed, offset, key.length);
        assertThat(hash.hash(3, framed, offset, key.length)).isEqualTo(hash.hash(3, key, 0, key.length));
    }

    @Property(tries = 500)
    void shouldChangeAboutHalfOfTheBitsWithAnyBitOfTheKey(
            @ForAll @Size(min = 1, max = 40) byte[] key, @ForAll @IntRange(max = 319) int bit) {
        final byte[] other = key.clone();
        final int flipped = bit % (8 * key.length);
        other[flipped / 8] ^= (byte) (1 << flipped % 8);
        final long difference = hash.hash(1, key, 0, key.length) ^ hash.hash(1, other, 0, key.length);
        assertThat(Long.bitCount(difference)).isBetween(10, 54);
    }

    @Test
    void shouldDistinguishSeedsCachesAndLengths() {
        final Set<Long> seen = new HashSet<>();
        final byte[] zeros = new byte[100];
        for (int length = 0; length <= 100; length++) {
            for (int cache = 1; cache <= 20; cache++) {
                assertThat(seen.add(hash.hash(cache, zeros, 0, length))).isTrue();
            }
        }
        assertThat(new KeyHash(1).hash(1, zeros, 0, 8)).isNotEqualTo(new KeyHash(2).hash(1, zeros, 0, 8));
    }

    @Test
    void shouldSpreadNumberedKeysEvenly() {
        final int[] counts = new int[64];
        for (int i = 0; i < 64_000; i++) {
            final byte[] key = bytes("user" + i);
            counts[ShardMap.shardOf(hash.hash(1, key, 0, key.length), 64)]++;
        }
        for (int count : counts) {
            assertThat(count).isBetween(850, 1_150);
        }
    }
}
