package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.server.configstore.ConfigurationStore;

/** Which of its nodes a server reads after a hint, and when. */
final class StoreHintsTest {
    private static final long DELAY_NS = 50_000_000;
    private static final long MOST_NS = 3_000_000_000L;

    private final StoreHints hints = new StoreHints();

    private void requireNothing(long nowNs) {
        assertThat(hints.takeConfiguration(nowNs)).isFalse();
        assertThat(hints.takeRegistrations()).isFalse();
        assertThat(hints.takeRequests()).isFalse();
        assertThat(hints.untilDueNs(nowNs, MOST_NS)).isEqualTo(MOST_NS);
    }

    @Test
    void shouldNameWhatHasChanged() {
        assertThat(hints.changed("/configuration", 0)).isTrue();
        assertThat(hints.takeConfiguration(DELAY_NS)).isTrue();
        requireNothing(DELAY_NS);
        assertThat(hints.changed("/servers/a", 0)).isTrue();
        assertThat(hints.takeRegistrations()).isTrue();
        requireNothing(DELAY_NS);
        assertThat(hints.changed("/transfers/7", 0)).isTrue();
        assertThat(hints.takeRequests()).isTrue();
        requireNothing(DELAY_NS);
    }

    @Test
    void shouldLeaveOutWhatNoServingServerReads() {
        assertThat(hints.changed("/vote", 0)).isFalse();
        assertThat(hints.changed("/caches/a", 0)).isFalse();
        assertThat(hints.changed("/serversx", 0)).isFalse();
        requireNothing(DELAY_NS);
    }

    @Test
    void shouldReadTheConfigurationALittleLater() {
        final long fromNs = -7;
        assertThat(hints.changed("/configuration", fromNs)).isTrue();
        assertThat(hints.changed("/configuration", fromNs + DELAY_NS - 1)).isTrue();
        assertThat(hints.untilDueNs(fromNs + 1, MOST_NS)).isEqualTo(DELAY_NS - 1);
        assertThat(hints.takeConfiguration(fromNs + DELAY_NS - 1)).isFalse();
        assertThat(hints.untilDueNs(fromNs + 2 * DELAY_NS, MOST_NS)).isZero();
        assertThat(hints.takeConfiguration(fromNs + DELAY_NS)).isTrue();
        requireNothing(fromNs + DELAY_NS);
    }

    @Test
    void shouldReadEverythingAfterAHintWithoutAName() {
        assertThat(hints.changed(ConfigurationStore.ANY_PATH, 1)).isTrue();
        assertThat(hints.takeRequests()).isTrue();
        assertThat(hints.takeConfiguration(1 + DELAY_NS)).isTrue();
        assertThat(hints.takeRegistrations()).isTrue();
        requireNothing(1 + DELAY_NS);
    }

    @Test
    void shouldReadEverythingNowFromTimeToTime() {
        assertThat(hints.changed("/configuration", 10)).isTrue();
        hints.all(11);
        assertThat(hints.takeConfiguration(11)).isTrue();
        assertThat(hints.takeRegistrations()).isTrue();
        assertThat(hints.takeRequests()).isTrue();
        requireNothing(11);
    }
}
