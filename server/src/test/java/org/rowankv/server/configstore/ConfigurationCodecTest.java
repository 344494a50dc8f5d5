package org.rowankv.server.configstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

class ConfigurationCodecTest {
    private static final Configuration THREE = Configuration.initial(5, -6, 3, 2, 7, List.of(1L, 2L, Long.MAX_VALUE));

    @Test
    void shouldReadBackWhatWasWritten() {
        assertThat(ConfigurationCodec.decode(ConfigurationCodec.encode(THREE))).isEqualTo(THREE);
        final Configuration later = THREE.coldStart(List.of(4L, 5L, 6L));
        assertThat(ConfigurationCodec.decode(ConfigurationCodec.encode(later))).isEqualTo(later);
        final Configuration alone = Configuration.initial(1, 2, 1, 1, 1, List.of(1L));
        assertThat(ConfigurationCodec.decode(ConfigurationCodec.encode(alone))).isEqualTo(alone);
    }

    @Test
    void shouldKeepWhoIsJoining() {
        final Configuration joining = THREE.coldStart(List.of(4L, 5L, 6L), Set.of(1));
        assertThat(joining.isJoining(1)).isTrue();
        final byte[] bytes = ConfigurationCodec.encode(joining);
        assertThat(ConfigurationCodec.decode(bytes)).isEqualTo(joining);
        // Readable in its own format version only.
        assertThat(bytes[ConfigurationCodec.FORMAT_VERSION_OFFSET]).isEqualTo((byte) 2);
        bytes[ConfigurationCodec.FORMAT_VERSION_OFFSET] = 1;
        assertThatThrownBy(() -> ConfigurationCodec.decode(bytes)).isInstanceOf(ConfigurationStoreException.class);
    }

    /** Of a store in one process: it is no common start. */
    @Test
    void shouldKeepATermWithoutAManagerThatChangedRunningServers() {
        final Configuration moved = THREE.handedOver(Map.of(0, THREE.shard(0).backups()[0]));
        assertThat(moved.hasManager()).isFalse();
        assertThat(moved.startTerm()).isLessThan(moved.term());
        assertThat(ConfigurationCodec.decode(ConfigurationCodec.encode(moved))).isEqualTo(moved);
    }

    @Test
    void shouldKeepWhichShardsBeganEmpty() {
        final List<ShardAssignment> shards = new ArrayList<>(THREE.shards());
        shards.set(2, shards.get(2).recovered(1, true));
        shards.set(3, shards.get(3).recovered(1, false));
        final Configuration recovered =
                new Configuration(5, -6, 9, THREE.incarnations(), shards, 9, Configuration.NO_MANAGER, Set.of(2));
        final byte[] bytes = ConfigurationCodec.encode(recovered);
        assertThat(ConfigurationCodec.decode(bytes)).isEqualTo(recovered);
        assertThat(ConfigurationCodec.decode(bytes).shard(2).origin()).isEqualTo(2);
        assertThat(bytes[ConfigurationCodec.FORMAT_VERSION_OFFSET]).isEqualTo((byte) 4);
        for (int length = 0; length < bytes.length; length++) {
            final byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> ConfigurationCodec.decode(cut)).isInstanceOf(ConfigurationStoreException.class);
        }
        // Readable in its own format version only.
        bytes[ConfigurationCodec.FORMAT_VERSION_OFFSET] = 3;
        assertThatThrownBy(() -> ConfigurationCodec.decode(bytes)).isInstanceOf(ConfigurationStoreException.class);
    }

    @Test
    void shouldFitANodeAtItsLargest() {
        final Configuration largest =
                Configuration.initial(1, 2, ConfigurationCodec.MAX_SERVERS, 9, 4096, Collections.nCopies(1024, 7L));
        final byte[] bytes = ConfigurationCodec.encode(largest);
        assertThat(bytes.length).isLessThan(ConfigurationStore.MAX_NODE_LENGTH);
        assertThat(ConfigurationCodec.decode(bytes)).isEqualTo(largest);
    }

    @Test
    void shouldRefuseEveryFlippedBitAndEveryOtherLength() {
        final byte[] bytes = ConfigurationCodec.encode(THREE);
        for (int bit = 0; bit < bytes.length * Byte.SIZE; bit++) {
            final byte[] damaged = bytes.clone();
            damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertThatThrownBy(() -> ConfigurationCodec.decode(damaged))
                    .as("bit %d", bit)
                    .isInstanceOf(ConfigurationStoreException.class);
        }
        for (int length = 0; length < bytes.length + 20; length++) {
            if (length != bytes.length) {
                final byte[] cut = Arrays.copyOf(bytes, length);
                assertThatThrownBy(() -> ConfigurationCodec.decode(cut))
                        .isInstanceOf(ConfigurationStoreException.class);
            }
        }
    }

    /** The checksum is no defence against a forger: no count is trusted, no server out of range accepted. */
    @Test
    void shouldDecodeOrRefuseWhateverStandsBehindAValidChecksum() {
        final byte[] bytes = ConfigurationCodec.encode(THREE);
        final Random random = new Random(6);
        for (int round = 0; round < 50_000; round++) {
            final byte[] changed = Arrays.copyOf(bytes, bytes.length - random.nextInt(4));
            final ByteBuffer buffer = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = random.nextInt(3); i >= 0; i--) {
                final int at = ConfigurationCodec.SERVER_COUNT_OFFSET
                        + random.nextInt(changed.length - ConfigurationCodec.SERVER_COUNT_OFFSET);
                changed[at] = (byte) random.nextInt();
            }
            final CRC32C crc = new CRC32C();
            crc.update(
                    changed,
                    ConfigurationCodec.SERVER_COUNT_OFFSET,
                    changed.length - ConfigurationCodec.SERVER_COUNT_OFFSET);
            buffer.putInt(ConfigurationCodec.CHECKSUM_OFFSET, (int) crc.getValue());
            if (ConfigurationCodec.whyInvalid(changed) == null) {
                final Configuration decoded = ConfigurationCodec.decode(changed);
                for (ShardAssignment shard : decoded.shards()) {
                    assertThat(shard.primary()).isBetween(0, decoded.serverCount() - 1);
                    for (int backup : shard.backups()) {
                        assertThat(backup).isBetween(0, decoded.serverCount() - 1);
                    }
                }
            } else {
                assertThatThrownBy(() -> ConfigurationCodec.decode(changed))
                        .isInstanceOf(ConfigurationStoreException.class);
            }
        }
    }

    @Test
    void shouldSayWhichVersionItCannotRead() {
        final byte[] bytes = ConfigurationCodec.encode(THREE);
        bytes[ConfigurationCodec.FORMAT_VERSION_OFFSET] = 5;
        assertThatThrownBy(() -> ConfigurationCodec.decode(bytes))
                .hasMessageContaining("format version 5")
                .hasMessageContaining("reads 1 to 4");
    }

    @Test
    void shouldLayTheHeaderOutAsTheDiagramSays() {
        assertThat(ConfigurationCodec.HEADER_LENGTH).isEqualTo(48);
        assertThat(ConfigurationCodec.TERM_OFFSET).isEqualTo(40);
        assertThat(ConfigurationCodec.CLUSTER_ID_OFFSET).isEqualTo(24);
        assertThat(NodeDescriptor.HEADER_LENGTH).isEqualTo(40);
    }
}
