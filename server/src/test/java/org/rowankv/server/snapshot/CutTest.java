package org.rowankv.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.embedded.KeptStore;
import org.rowankv.server.embedded.SteppedStore;
import org.rowankv.server.embedded.Stores;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.SegmentPins;

/** Taking a cut while writers need the pinned segments. */
@Timeout(120)
final class CutTest {
    private static final long STEP_NS = SegmentPins.BRIEF_PATIENCE_NS / 10;

    private final SteppedStore store = SteppedStore.open(
            EmbeddedSettings.of(with -> {
                with.servers = 1;
                with.shards = 1;
                with.workers = 1;
                with.capacityBytes = 26 << 16;
                with.segmentBytes = 64 << 10;
                with.maxMessage = 1024;
            }),
            new KeptStore(),
            1_000_000_000L,
            1_700_000_000_000L,
            1);

    private long pinnedNs;
    private long freeNs;

    /** The thread that takes the cut waits: no agent runs, and the cleaner reports that it lacks pinned segments. */
    private final class LackingCleaner implements Scheduling {
        @Override
        public AgentHandle take(Agent agent, ErrorLog errors) {
            throw new AssertionError("a cut begins no agents");
        }

        @Override
        public void park(long ns) {
            final SegmentPins pins = store.cluster().servers().get(0).segments().pins();
            if (pins.areAny()) {
                pinnedNs += STEP_NS;
            } else {
                freeNs += STEP_NS;
            }
            store.clock().advanceNs(STEP_NS);
            pins.lacked(store.clock().nanoTime());
        }
    }

    /** Otherwise nothing would be freed between two attempts, and writers would wait for the last of them. */
    @Test
    void shouldLeaveSegmentsAloneAsLongAsATryThatFailedHasPinnedThem() {
        try (RowanClient client = Stores.client(store.cluster())) {
            client.put(Stores.cache(client), bytes("k"), bytes("v")); // does not settle, since no agent runs
        }

        assertThatThrownBy(() -> ConsistentCut.take(
                        store.cluster().configuration(),
                        store.cluster().servers(),
                        store.clock(),
                        new LackingCleaner(),
                        () -> false,
                        () -> {}))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("writes go first");

        assertThat(pinnedNs).isGreaterThan(10 * SegmentPins.BRIEF_PATIENCE_NS);
        assertThat(freeNs).isGreaterThan(pinnedNs * 9 / 10);
    }

    /** The cleaner counts how long it has lacked them, and has the clock of its server. */
    @Test
    void shouldPinByTheClockOfTheServerAndNotByThatOfTheReader() {
        try (RowanClient client = Stores.client(store.cluster())) {
            client.put(Stores.cache(client), bytes("k"), bytes("v")); // else no segment is in use
        }
        final Clock ahead = new ManualClock(store.clock().nanoTime() + SegmentPins.PATIENCE_NS, 0);

        try (ConsistentCut cut = ConsistentCut.take(
                store.cluster().configuration(),
                store.cluster().servers(),
                ahead,
                store.agents(),
                () -> false,
                () -> {})) {
            final Server server = store.cluster().servers().get(0);
            final SegmentPins pins = server.segments().pins();
            assertThat(cut.segments(server)).isNotEmpty();

            pins.lacked(store.clock().nanoTime() + SegmentPins.PATIENCE_NS);
            assertThat(pins.isGivenUp()).isFalse();
            pins.lacked(store.clock().nanoTime() + SegmentPins.PATIENCE_NS + 1);
            assertThat(pins.isGivenUp()).isTrue();
        }
    }
}
