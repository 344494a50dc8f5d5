package org.rowankv.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class VersionTest {
    @Property
    void shouldKeepEpochAndCounterAndTheirOrder(
            @ForAll @IntRange(max = Version.MAX_EPOCH) int epoch,
            @ForAll @LongRange(max = Version.MAX_COUNTER) long counter) {
        final long version = Version.of(epoch, counter);
        assertThat(Version.epoch(version)).isEqualTo(epoch);
        assertThat(Version.counter(version)).isEqualTo(counter);
        assertThat(version).isNotNegative();
        if (epoch < Version.MAX_EPOCH) {
            assertThat(Version.of(epoch + 1, 0)).isGreaterThan(version);
        }
    }

    @Test
    void shouldStepWithinAnEpoch() {
        assertThat(Version.next(Version.of(3, 7))).isEqualTo(Version.of(3, 8));
        assertThat(Version.before(Version.of(3, 7))).isEqualTo(Version.of(3, 6));
        assertThat(Version.before(Version.NONE)).isEqualTo(Version.NONE);
        assertThat(Version.toString(Version.of(3, 7))).isEqualTo("3.7");
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        assertThatThrownBy(() -> Version.of(Version.MAX_EPOCH + 1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Version.of(0, Version.MAX_COUNTER + 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Status.of(99)).isInstanceOf(IllegalArgumentException.class);
        assertThat(Status.of(Status.FULL.ordinal())).isEqualTo(Status.FULL);
        assertThat(Ttl.whyInvalid(-2)).contains("-2");
        assertThat(Ttl.whyInvalid(0)).isNull();
    }
}
