package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;

/**
 * When mutations add their changes to the stream: after the last backup's acknowledgement, and before their versions
 * count as finished.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ChangeHandOverTest {
    private static final int CACHE = 5;
    private static final int WORKERS = 4;
    private static final int EACH = 300;
    private static final KeyHash HASH = new KeyHash(7);

    /** A primary with its workers, each of which has one backup of its own. */
    private static final class Primary {
        final Segments segments = new Segments(
                Area.create(
                        new AreaSettings(null, 2 << 20, 64 << 10, 0, 5, 1, Durability.NONE),
                        new SplittableRandomSource(1)),
                new SplittableRandomSource(2),
                0,
                1 << 20);
        final ShardReplica replica = new ShardReplica(0, 1, HASH, segments, 1);
        final VersionCounter versions = new VersionCounter(1);
        final ShardPrimary primary = new ShardPrimary(replica, versions);
        final InFlightWindow inFlightWindow = new InFlightWindow(WORKERS);
        final List<Worker> workers = new ArrayList<>();
        final List<HeldReplicator> replicators = new ArrayList<>();

        /** @param pieces that entries are sent to each backup in; 0: no backup */
        Primary(int pieces) {
            for (int slot = 0; slot < WORKERS; slot++) {
                final HeldReplicator replicator = new HeldReplicator(new Backup(segments, pieces), point -> {});
                replicators.add(replicator);
                workers.add(new Worker(
                        slot,
                        1,
                        0,
                        segments,
                        RolesOfOne.current(List.of(primary)),
                        AnswerPermit.ALWAYS,
                        replicator,
                        inFlightWindow,
                        new NoPressure(),
                        new ManualClock(),
                        new LimitedCaches(() -> new CacheCounts[0], 1, () -> 0, new Space(0)),
                        1));
            }
        }

        ShardChanges changes() {
            return replica.changes();
        }

        /** The finished version, as a reader of the changes computes it. */
        long finished() {
            final long last = versions.last();
            return inFlightWindow.finished(0, last);
        }

        long entryOfTheOnlyKey() {
            final long[] found = new long[1];
            replica.index().lock(WORKERS + 1);
            try {
                for (long position = replica.index().visit(0, address -> found[0] = address); position != 0; ) {
                    position = replica.index().visit(position, address -> found[0] = address);
                }
            } finally {
                replica.index().unlock();
            }
            return found[0];
        }

        /** Flips a bit in the first occurrence of a text behind an address. */
        void flipIn(String text, long address) {
            final ByteBuffer buffer = segments.region().buffer(address);
            int at = segments.region().offset(address);
            final byte[] expected = text.getBytes(StandardCharsets.US_ASCII);
            final byte[] there = new byte[expected.length];
            buffer.get(at, there);
            while (!Arrays.equals(expected, there)) {
                buffer.get(++at, there);
            }
            buffer.put(at, (byte) (buffer.get(at) ^ 4));
        }

        /** The versions that a reader receives, from one version on. */
        List<Long> heard(long from) {
            return changes().read(CACHE, from, finished(), Long.MAX_VALUE).changes().stream()
                    .map(Change::version)
                    .toList();
        }
    }

    private static Request put(String key, String value) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        final byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        final Request request = new Request().put(CACHE, name, 0, name.length, bytes, 0, bytes.length);
        request.placed(HASH.hash(CACHE, name, 0, name.length), 0);
        return request;
    }

    private static Request delete(String key) {
        final byte[] name = key.getBytes(StandardCharsets.US_ASCII);
        final Request request = new Request().delete(CACHE, name, 0, name.length);
        request.placed(HASH.hash(CACHE, name, 0, name.length), 0);
        return request;
    }

    @AfterEach
    void reset() {
        if (Chaos.ENABLED) {
            Chaos.reset();
        }
    }

    /** Reads in the middle of the hand-over, on the thread of the mutation. */
    @Test
    void shouldHandOverBehindTheBackupsAndBeforeTheVersionIsFinished() {
        final Primary primary = new Primary(1);
        final long begun = primary.changes().request(CACHE, true, primary.versions::last);
        final List<Long> inTheMiddle = new ArrayList<>();
        final List<Long> heardInTheMiddle = new ArrayList<>();
        primary.changes().watch(() -> {
            inTheMiddle.add(primary.changes().newest());
            assertThat(primary.finished()).isLessThan(primary.changes().newest());
            heardInTheMiddle.addAll(primary.heard(begun));
        });
        final List<Long> versions = new ArrayList<>();
        for (Request request : List.of(put("k", "first"), put("k", "second"), put("other", ""), delete("k"))) {
            final int slot = versions.size() % WORKERS;
            primary.workers.get(slot).begin(primary.primary, request);
            while (!primary.workers.get(slot).advance()) {
                // Its entry is in the log; it has not landed at the backup.
                assertThat(inTheMiddle).isEqualTo(versions);
                assertThat(primary.finished()).isLessThan(primary.versions.last());
                primary.replicators.get(slot).acknowledge();
            }
            assertThat(request.status()).isEqualTo(Status.OK);
            versions.add(request.version());
            assertThat(inTheMiddle).isEqualTo(versions);
            assertThat(heardInTheMiddle).doesNotContain(request.version());
            assertThat(primary.finished()).isEqualTo(request.version());
            assertThat(primary.heard(begun)).isEqualTo(versions);
            heardInTheMiddle.clear();
        }
    }

    /** Its owner dies after the t-log; the next one completes the mutation. */
    @Test
    void shouldHandOverWhatAnotherHasLeft() {
        final Primary primary = new Primary(1);
        final long begun = primary.changes().request(CACHE, false, primary.versions::last);
        final List<Long> inTheMiddle = new ArrayList<>();
        primary.changes().watch(() -> {
            inTheMiddle.add(primary.changes().newest());
            assertThat(primary.finished()).isLessThan(primary.changes().newest());
        });
        final Worker worker = primary.workers.get(0);
        worker.begin(primary.primary, put("k", "left"));
        assertThat(worker.advance()).isFalse();
        assertThat(worker.finishLeftover()).isFalse();
        assertThat(inTheMiddle).isEmpty();

        primary.replicators.get(0).acknowledge();

        assertThat(worker.finishLeftover()).isTrue();
        assertThat(inTheMiddle).containsExactly(primary.versions.last());
        assertThat(primary.heard(begun)).isEqualTo(inTheMiddle);
    }

    /** The decision may be long ago: a backup that is away holds the mutation up behind it. */
    @Test
    void shouldHandOverNoOldValueThatIsDamagedSinceTheDecision() {
        final Primary primary = new Primary(1);
        final long begun = primary.changes().request(CACHE, true, primary.versions::last);
        final Worker worker = primary.workers.get(0);
        worker.begin(primary.primary, put("k", "first"));
        assertThat(worker.advance()).isFalse();
        primary.replicators.get(0).acknowledge();
        assertThat(worker.advance()).isTrue();
        worker.begin(primary.primary, put("k", "second"));
        assertThat(worker.advance()).isFalse();

        final long replaced = primary.entryOfTheOnlyKey();
        primary.flipIn("first", replaced);
        primary.replicators.get(0).acknowledge();
        assertThat(worker.advance()).isTrue();

        final List<Change> changes = primary.changes()
                .read(CACHE, begun, primary.finished(), Long.MAX_VALUE)
                .changes();
        assertThat(changes).hasSize(2);
        assertThat(changes.get(1).value()).asString(StandardCharsets.US_ASCII).isEqualTo("second");
        assertThat(changes.get(1).oldValue()).isNull();
        final int segment = primary.segments.segmentOf(replaced);
        assertThat(primary.segments.damage().isSuspect(segment, primary.segments.generation(segment)))
                .isTrue();
    }

    /** A backup that is away holds the mutation up, and bits flip in the log meanwhile. */
    @Test
    void shouldCallAChangeLostWhoseEntryIsDamagedSinceItWasWritten() {
        final Primary primary = new Primary(1);
        final long begun = primary.changes().request(CACHE, false, primary.versions::last);
        final Worker worker = primary.workers.get(0);
        worker.begin(primary.primary, put("k", "first"));
        assertThat(worker.advance()).isFalse();
        primary.replicators.get(0).acknowledge();
        assertThat(worker.advance()).isTrue();
        final long entry = primary.entryOfTheOnlyKey();
        worker.begin(primary.primary, put("k", "second"));
        assertThat(worker.advance()).isFalse();

        primary.flipIn("second", entry);
        primary.replicators.get(0).acknowledge();
        assertThat(worker.advance()).isTrue();

        final ShardChanges.Reading found = primary.changes().read(CACHE, begun, primary.finished(), Long.MAX_VALUE);
        assertThat(found.changes()).isEmpty();
        assertThat(found.lostTo()).isEqualTo(primary.versions.last());
        final int segment = primary.segments.segmentOf(entry);
        assertThat(primary.segments.damage().isSuspect(segment, primary.segments.generation(segment)))
                .isTrue();
    }

    /** It takes effect all the same, and its subscribers receive a loss. */
    @Test
    @Tag("chaos")
    void shouldCallAChangeLostThatThereIsNoMemoryFor() {
        final Primary primary = new Primary(0);
        final long begun = primary.changes().request(CACHE, false, primary.versions::last);
        Chaos.install(point -> {
            if (point.equals("stream.before-copy")) {
                throw new OutOfMemoryError(point);
            }
        });
        final Request lost = put("k", "first");
        primary.workers.get(0).begin(primary.primary, lost);
        assertThat(primary.workers.get(0).advance()).isTrue();
        assertThat(lost.status()).isEqualTo(Status.OK);
        Chaos.reset();
        final Request heard = put("k", "second");
        primary.workers.get(0).begin(primary.primary, heard);
        assertThat(primary.workers.get(0).advance()).isTrue();

        final ShardChanges.Reading reading = primary.changes().read(CACHE, begun, primary.finished(), Long.MAX_VALUE);
        assertThat(reading.lostTo()).isEqualTo(lost.version());
        assertThat(reading.changes()).extracting(Change::version).containsExactly(heard.version());
    }

    @Test
    void shouldTellEveryChangeThatIsFinishedInOrderFromTheSubscriptionOn() throws Exception {
        for (int round = 0; round < TestScale.of(5, 20); round++) {
            final Primary primary = new Primary(0);
            final TreeSet<Long> taken = new TreeSet<>();
            final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            final CyclicBarrier together = new CyclicBarrier(WORKERS + 1);
            final CountDownLatch over = new CountDownLatch(WORKERS);
            final List<Thread> threads = new ArrayList<>();
            for (int slot = 0; slot < WORKERS; slot++) {
                final Worker worker = primary.workers.get(slot);
                final String key = "key" + slot;
                final Thread thread = new Thread(() -> {
                    final List<Long> own = new ArrayList<>();
                    try {
                        together.await();
                        for (int i = 0; i < EACH; i++) {
                            final Request request = i % 4 == 3 ? delete(key) : put(key, "value" + i);
                            worker.begin(primary.primary, request);
                            while (!worker.advance()) {
                                Thread.yield();
                            }
                            own.add(request.version());
                        }
                    } catch (Exception | Error e) {
                        failures.add(e);
                    } finally {
                        synchronized (taken) {
                            taken.addAll(own);
                        }
                        over.countDown();
                    }
                });
                threads.add(thread);
                thread.start();
            }
            together.await();
            // In the middle of it: from here on no change is missed.
            final long begun = primary.changes().request(CACHE, false, primary.versions::last);
            final List<Long> heard = new ArrayList<>();
            long position = begun;
            boolean last;
            do {
                last = over.getCount() == 0; // read first: one more read then finds the rest
                final ShardChanges.Reading reading =
                        primary.changes().read(CACHE, position, primary.finished(), Long.MAX_VALUE);
                assertThat(reading.lostTo()).isZero();
                reading.changes().forEach(change -> heard.add(change.version()));
                position = reading.to();
            } while (!last);
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
            assertThat(heard).containsExactlyElementsOf(taken.tailSet(begun, false));
        }
    }
}
