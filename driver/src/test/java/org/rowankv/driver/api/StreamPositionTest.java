package org.rowankv.driver.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** A saved position is independent of the arrays it is made from and copied to. */
final class StreamPositionTest {
    @Property(tries = 200)
    void shouldKeepItsVersionsWhateverBecomesOfArrays(
            @ForAll @Size(min = 1, max = 10) List<@LongRange(min = -1) Long> list) {
        final long[] versions = list.stream().mapToLong(Long::longValue).toArray();
        final long[] given = versions.clone();
        final StreamPosition position = StreamPosition.of(given);
        final StreamPosition same = StreamPosition.of(versions);
        Arrays.fill(given, 7);
        Arrays.fill(position.versions(), 8);
        assertThat(position.versions()).isEqualTo(versions);
        assertThat(position.shardCount()).isEqualTo(versions.length);
        for (int shard = 0; shard < versions.length; shard++) {
            assertThat(position.version(shard)).isEqualTo(versions[shard]);
        }
        assertThat(position).isEqualTo(same).hasSameHashCodeAs(same).hasToString(same.toString());
        final long[] other = versions.clone();
        other[other.length - 1] = other[other.length - 1] == 1 ? 2 : 1;
        assertThat(position).isNotEqualTo(StreamPosition.of(other));
    }

    @Example
    void shouldRefuseWhatIsNoVersion() {
        assertThatThrownBy(() -> StreamPosition.of(3, -2)).isInstanceOf(IllegalArgumentException.class);
        assertThat(StreamPosition.of(StreamPosition.NOTHING_YET).version(0)).isEqualTo(-1);
    }
}
