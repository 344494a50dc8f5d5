package org.rowankv.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ShardMapTest {
    private static final BigInteger TWO_64 = BigInteger.ONE.shiftLeft(64);

    private static BigInteger unsigned(long value) {
        return new BigInteger(Long.toUnsignedString(value));
    }

    @Property
    void shouldDivideTheUnsignedHashSpaceEvenly(
            @ForAll long hash, @ForAll @IntRange(min = 1, max = ShardMap.MAX_SHARDS) int shards) {
        final BigInteger[] parts =
                unsigned(hash).multiply(BigInteger.valueOf(shards)).divideAndRemainder(TWO_64);
        assertThat(ShardMap.shardOf(hash, shards)).isEqualTo(parts[0].intValueExact());
        assertThat(unsigned(ShardMap.positionOf(hash, shards))).isEqualTo(parts[1]);
    }

    @Test
    void shouldPlaceTheEndsOfTheSpace() {
        assertThat(ShardMap.shardOf(0, 7)).isZero();
        assertThat(ShardMap.shardOf(-1, 7)).isEqualTo(6);
        assertThat(ShardMap.shardOf(Long.MIN_VALUE, 2)).isEqualTo(1);
        assertThat(ShardMap.shardOf(Long.MAX_VALUE, 2)).isZero();
    }
}
