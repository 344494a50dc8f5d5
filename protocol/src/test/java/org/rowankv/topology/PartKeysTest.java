package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.rowankv.protocol.Parts;

final class PartKeysTest {
    @Property(tries = 200)
    void shouldPlaceEveryPartInTheShardOfItsValue(
            @ForAll long seed,
            @ForAll long id,
            @ForAll @IntRange(min = 1, max = ShardMap.MAX_SHARDS) int shards,
            @ForAll @IntRange(max = 600) int number) {
        final KeyHash hash = new KeyHash(seed);
        final PartKeys keys = new PartKeys(hash, shards);
        final int shard = Math.floorMod(id, shards);
        final byte[] key = keys.key(Parts.of(3), shard, id, number);
        assertThat(key)
                .hasSize(Parts.KEY_LENGTH)
                .isEqualTo(new PartKeys(hash, shards).key(Parts.of(3), shard, id, number));
        assertThat(ShardMap.shardOf(keys.hashOf(Parts.of(3), key), shards)).isEqualTo(shard);
        final ByteBuffer read = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(Parts.id(read, 0)).isEqualTo(id);
        assertThat(Parts.number(read, 0)).isEqualTo(number);
    }
}
