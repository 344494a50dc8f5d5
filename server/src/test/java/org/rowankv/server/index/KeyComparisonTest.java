package org.rowankv.server.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

final class KeyComparisonTest {
    private static final int CACHE = 5;
    private static final long ADDRESS = 256;
    private static final int OTHER = 1024;

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(4096).order(ByteOrder.LITTLE_ENDIAN);
    private final MemoryRegion region = MemoryRegion.of(buffer);

    private void write(long address, int cacheId, byte[] key, long previousVersion) {
        new EntryDraft()
                .begin(EntryType.PUT, 0, cacheId)
                .version(1)
                .key(key, 0, key.length)
                .previousVersion(previousVersion)
                .writeBody(buffer, (int) address);
    }

    private boolean isKey(int cacheId, byte[] key) {
        return KeyComparison.isKey(region, ADDRESS, cacheId, key, 0, key.length);
    }

    private boolean isKeyOf(int cacheId, byte[] key) {
        write(OTHER, cacheId, key, 0); // its header is shorter, so its key begins elsewhere
        return KeyComparison.isKeyOf(region, ADDRESS, buffer, OTHER);
    }

    /** Every length around whole words, and every byte of each. */
    @Test
    void shouldTellKeysApartByLengthAndEveryByte() {
        final Random random = new Random(3);
        for (int length = 1; length < 20; length++) {
            final byte[] key = new byte[length];
            random.nextBytes(key);
            write(ADDRESS, CACHE, key, 9);
            assertThat(isKey(CACHE, key)).isTrue();
            assertThat(isKeyOf(CACHE, key)).isTrue();
            for (int i = 0; i < length; i++) {
                final byte[] other = key.clone();
                other[i]++;
                assertThat(isKey(CACHE, other)).isFalse();
                assertThat(isKeyOf(CACHE, other)).isFalse();
            }
            final byte[] longer = java.util.Arrays.copyOf(key, length + 1);
            assertThat(isKey(CACHE, longer)).isFalse();
            assertThat(isKeyOf(CACHE, longer)).isFalse();
        }
    }

    @Test
    void shouldTellTheSameKeyOfTwoCachesApart() {
        final byte[] key = {1, 2, 3};
        write(ADDRESS, CACHE, key, 9);
        assertThat(isKey(CACHE + 1, key)).isFalse();
        assertThat(isKeyOf(CACHE + 1, key)).isFalse();
    }

    @Test
    void shouldCompareWithNothing() {
        write(ADDRESS, CACHE, new byte[] {1}, 9);
        assertThat(KeyComparison.isKeyOf(region, ADDRESS, null, 0)).isFalse();
    }
}
