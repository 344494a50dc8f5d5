package org.rowankv.server.durability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.agent.AgentRunner;
import org.rowankv.server.area.AnonymousMemory;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.OpenOverrides;

@Tag("jvm")
final class GroupCommitTest {
    private final ForcedMemory memory = new ForcedMemory();
    private final GroupCommit groupCommit = new GroupCommit(memory, "the area of the test");
    private final ErrorLog errors = new ErrorLog(new ManualClock());
    private final AtomicReference<ForceFailedException> reported = new AtomicReference<>();
    private final AgentRunner runner = new AgentRunner(new ForceAgent(groupCommit, 7), errors);

    @BeforeEach
    void tellBeforeAnybodyMeetsTheFailure() {
        groupCommit.whenFailed(failed -> {
            assertThat(groupCommit.failure()).isNull();
            reported.set(failed);
        });
    }

    @AfterEach
    void endTheThread() {
        memory.mayGoOn.countDown();
        runner.close();
    }

    private void startThread() {
        groupCommit.wakes(runner, false);
        runner.start();
        await().until(() -> runner.cycles() > 0);
    }

    @Test
    void shouldTellWhoeverWaitsOnceThereIsNothingToWaitFor() {
        groupCommit.flush(64, 64);
        final long ticket = groupCommit.request();
        final List<Boolean> heard = new ArrayList<>();
        groupCommit.whenForced(() -> heard.add(groupCommit.isForced(ticket)));
        assertThat(groupCommit.force()).isTrue();
        assertThat(groupCommit.force()).isFalse();
        assertThat(heard).containsExactly(true);
    }

    @Test
    void shouldForceNothingBeforeSomebodyAsks() {
        groupCommit.flush(64, 64);
        assertThat(groupCommit.force()).isFalse();
        assertThat(memory.forced).isEmpty();
        final long ticket = groupCommit.request();
        assertThat(groupCommit.isForced(ticket)).isFalse();
        assertThat(groupCommit.force()).isTrue();
        assertThat(groupCommit.isForced(ticket)).isTrue();
        assertThat(memory.forced).containsExactly("64-128");
        assertThat(groupCommit.force()).isFalse();
    }

    @Test
    void shouldForceOnceForAllWhoAskedAndJoinWhatTouches() {
        groupCommit.flush(0, 64);
        final long first = groupCommit.request();
        groupCommit.flush(64, 128);
        groupCommit.flush(1024, 64);
        final long second = groupCommit.request();
        groupCommit.flush(1000, 32);
        assertThat(groupCommit.force()).isTrue();
        assertThat(groupCommit.isForced(first)).isTrue();
        assertThat(groupCommit.isForced(second)).isTrue();
        assertThat(memory.forced).containsExactly("0-192 1000-1088");
        assertThat(groupCommit.forces()).isEqualTo(1);
    }

    @Test
    void shouldKeepTheHullOfTooManyRanges() {
        for (int i = 0; i < 300; i++) {
            groupCommit.flush(i * 128L, 64);
        }
        groupCommit.request();
        groupCommit.force();
        assertThat(memory.first).isZero();
        assertThat(memory.last).isEqualTo(299 * 128L + 64);
    }

    @Test
    void shouldNotCoverWhatWasAskedForDuringAForce() {
        memory.held = true;
        startThread();
        groupCommit.flush(0, 64);
        final long first = groupCommit.request();
        await().until(() -> memory.begun.getCount() == 0);
        groupCommit.flush(64, 64);
        final long second = groupCommit.request();
        assertThat(groupCommit.isForced(first)).isFalse();
        memory.held = false;
        memory.mayGoOn.countDown();
        await().until(() -> groupCommit.isForced(second));
        assertThat(groupCommit.isForced(first)).isTrue();
        assertThat(memory.forced).containsExactly("0-64", "64-128");
    }

    @Test
    void shouldForceOnItsOwnThreadAlsoForWhoDrains() {
        startThread();
        groupCommit.flush(0, 64);
        Thread.currentThread().interrupt();
        groupCommit.drain();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(memory.threads).containsExactly("rowan-force-7");
    }

    @Test
    void shouldForceOnAThreadOfOursBeforeTheAgentIsThere() {
        groupCommit.flush(0, 64);
        groupCommit.drain();
        assertThat(memory.threads).containsExactly("rowan-force");
    }

    @Test
    void shouldNeverForceAgainNorPublishOnceAForceHasFailed() {
        startThread();
        memory.broken = true;
        groupCommit.flush(0, 64);
        final long ticket = groupCommit.request();
        await().until(() -> groupCommit.failure() != null);
        memory.broken = false;
        assertThat(reported.get()).hasMessageContaining("the area of the test").hasMessageContaining("No space left");
        final int forced = memory.forced.size();
        final long later = groupCommit.request();
        assertThatThrownBy(groupCommit::drain).isInstanceOf(ForceFailedException.class);
        assertThat(groupCommit.isForced(ticket)).isFalse();
        assertThat(groupCommit.isForced(later)).isFalse();
        assertThat(memory.forced).hasSize(forced);
    }

    @Test
    void shouldNeverForceAgainOnceAForceBesideTheAgentsHasFailed() {
        memory.broken = true;
        final DurabilityVerbs atOnce = groupCommit.atOnce(memory.device());
        assertThatThrownBy(() -> atOnce.flush(0, 64))
                .isInstanceOf(ForceFailedException.class)
                .hasMessageContaining("No space left");
        memory.broken = false;
        assertThat(reported.get()).hasMessageContaining("the area of the test");
        groupCommit.flush(64, 64);
        final long ticket = groupCommit.request();
        assertThat(groupCommit.force()).isFalse();
        assertThat(groupCommit.isForced(ticket)).isFalse();
        assertThatThrownBy(() -> atOnce.flush(0, 64)).isInstanceOf(ForceFailedException.class);
        assertThatThrownBy(atOnce::drain).isInstanceOf(ForceFailedException.class);
        assertThat(memory.forced).isEmpty();
    }

    /** A server that continues would acknowledge what the device may lack. */
    @Test
    void shouldForceNothingMoreInAnAreaWhoseSuperblockDidNotReachTheDevice() {
        final AreaSettings settings =
                new AreaSettings(null, Fixtures.CAPACITY, Fixtures.SEGMENT_LENGTH, 1, 5, 16, Durability.POWER);
        final ForcedMemory itsMemory = new ForcedMemory();
        final Area created = Area.create(settings, itsMemory, Fixtures.random());
        final Area found = Area.open(settings, itsMemory, OpenOverrides.NONE);
        for (Area area : List.of(created, found)) {
            area.superblock().adoptTerm(1);
            itsMemory.broken = true;
            assertThatThrownBy(() -> area.superblock().adoptTerm(2)).isInstanceOf(ForceFailedException.class);
            itsMemory.broken = false;
            area.flush(area.segmentBase(), 64);
            assertThatThrownBy(area::drain).isInstanceOf(ForceFailedException.class);
            area.closeClean();
        }
        assertThat(itsMemory.forced).isEmpty();
    }

    /** Records what is forced; may block in it, or fail. */
    private static final class ForcedMemory implements AreaMemory {
        final List<String> forced = Collections.synchronizedList(new ArrayList<>());
        final List<String> threads = Collections.synchronizedList(new ArrayList<>());
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayGoOn = new CountDownLatch(1);
        private final AreaMemory below = new AnonymousMemory(Fixtures.memorySettings());
        volatile boolean held;
        volatile boolean broken;
        volatile long first;
        volatile long last;

        @Override
        public void force(ForceRanges ranges) {
            final StringBuilder text = new StringBuilder();
            for (int i = 0; i < ranges.count(); i++) {
                text.append(i == 0 ? "" : " ")
                        .append(ranges.start(i))
                        .append('-')
                        .append(ranges.end(i));
                first = ranges.start(0);
                last = ranges.end(i);
            }
            begun.countDown();
            if (held) {
                try {
                    mayGoOn.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            requireWorking();
            threads.add(Thread.currentThread().getName());
            forced.add(text.toString());
        }

        @Override
        public MemoryRegion region() {
            return below.region();
        }

        @Override
        public ByteBuffer header() {
            return below.header();
        }

        @Override
        public void ensureBacked(long address) {
            below.ensureBacked(address);
        }

        @Override
        public DurabilityVerbs verbs() {
            return below.verbs();
        }

        @Override
        public DurabilityVerbs device() {
            return new DurabilityVerbs() {
                @Override
                public void flush(long address, long length) {
                    requireWorking();
                }

                @Override
                public void drain() {
                    // A flush has ended.
                }
            };
        }

        private void requireWorking() {
            if (broken) {
                throw new UncheckedIOException(new IOException("No space left on device"));
            }
        }

        @Override
        public void flushAll() {
            below.flushAll();
        }
    }
}
