package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.server.shard.ShardChanges;

final class HandedChangesTest {
    private static final ShardChanges.Handed SOME = new ShardChanges.Handed(
            List.of(new ShardChanges.OfCache(3, true, 17), new ShardChanges.OfCache(9, false, 0)),
            List.of(
                    kept(3, 18, ChangeType.CREATED, new byte[] {1, 2}, null, false),
                    kept(9, 19, ChangeType.UPDATED, new byte[40], new byte[3], true),
                    kept(3, 25, ChangeType.REMOVED, null, new byte[0], false)));

    private static ShardChanges.Kept kept(
            int cacheId, long version, ChangeType type, byte[] value, byte[] old, boolean inParts) {
        return new ShardChanges.Kept(cacheId, new Change(version, type, new byte[] {7, 8, 9}, value, old, inParts));
    }

    private static byte[] encoded() {
        final ByteBuffer bytes = HandedChanges.encode(SOME);
        final byte[] all = new byte[bytes.remaining()];
        bytes.get(all);
        return all;
    }

    private static void requireSame(ShardChanges.Handed decoded) {
        assertThat(decoded.caches()).isEqualTo(SOME.caches());
        assertThat(decoded.changes()).usingRecursiveComparison().isEqualTo(SOME.changes());
    }

    @Test
    void shouldReadWhatWasWritten() {
        requireSame(HandedChanges.decode(ByteBuffer.wrap(encoded())));
        final ShardChanges.Handed nothing = new ShardChanges.Handed(List.of(), List.of());
        assertThat(HandedChanges.decode(HandedChanges.encode(nothing))).isEqualTo(nothing);
    }

    @Test
    void shouldRefuseEachPartOfIt() {
        final byte[] whole = encoded();
        final int changes = Integer.BYTES + 2 * 16;
        for (int length = 0; length < whole.length; length++) {
            final ByteBuffer part = ByteBuffer.wrap(Arrays.copyOf(whole, length));
            if (length < changes) {
                assertThatThrownBy(() -> HandedChanges.decode(part))
                        .as("%d bytes", length)
                        .isInstanceOf(IllegalArgumentException.class);
            } else {
                assertThat(countOrNone(part)).as("%d bytes", length).isLessThan(3);
            }
        }
    }

    /** Changes that the bytes hold whole; −1 if they are refused. */
    private static int countOrNone(ByteBuffer bytes) {
        try {
            return HandedChanges.decode(bytes).changes().size();
        } catch (IllegalArgumentException e) {
            return -1;
        }
    }

    @Test
    void shouldReadOrRefuseWhateverArrives() {
        final Random random = new Random(4);
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            final byte[] bytes = encoded();
            for (int flip = 0; flip <= round % 4; flip++) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            }
            refused += countOrNone(ByteBuffer.wrap(bytes)) < 0 ? 1 : 0;
        }
        assertThat(refused).isBetween(1, 19_999);
    }
}
