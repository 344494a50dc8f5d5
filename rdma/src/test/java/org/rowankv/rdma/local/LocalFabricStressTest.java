package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.rdma.rowan.LandingHandler;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/**
 * Real threads on the real ring: four senders of two servers, a fencer, and a reader that gives freed segments to
 * another owner before it posts them again. In the end the log has every sender's entries exactly once, whole
 * and in order, none of a fenced queue pair behind the tail that its fence left, and no thread has written into a
 * segment that was free.
 *
 * <p>Runs without chaos points, as production does.
 */
@Tag("races")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("jvm")
final class LocalFabricStressTest {
    private static final int TAG = 11;
    private static final int SENDERS = 4;
    private static final int SEGMENTS = 24;
    private static final int SEGMENT = 16 << 10;
    private static final long SEED = Long.getLong("rowan.seed", 20231L);
    private static final long APPENDS = Long.getLong("rowan.stress.appends", 150_000);

    private final LocalFabric fabric = new LocalFabric();
    private final TestServer receiver = TestServer.open(
            fabric,
            1,
            1,
            TestServer.CLUSTER,
            MemoryRegion.of(ByteBuffer.allocateDirect(TestServer.BASE + SEGMENTS * SEGMENT)),
            SEGMENT,
            6);
    private final List<Sender> senders = new ArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Border> borders = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean sendersDone = new AtomicBoolean();

    /** Where the tail was after a fence: queue pairs of the sender up to that life must not be found behind it. */
    private record Border(int sender, int life, long ordinal, int offset) {}

    /** identity: sender 8 | life of its queue pair 24 | sequence 32. */
    private static long id(int sender, int life, long sequence) {
        return (long) sender << 56 | (long) life << 32 | sequence;
    }

    private final class Sender implements Runnable {
        final int index;
        final int serverId;
        final TestServer server;
        final Entries entries = new Entries();
        final RandomSource random;
        volatile int life;
        long voided;
        long fenced;
        private int completed;
        private int lives;

        Sender(int index, TestServer server) {
            this.index = index;
            this.server = server;
            this.serverId = server.settings().serverId();
            this.random = new SplittableRandomSource(SEED).fork("sender " + index);
        }

        @Override
        public void run() {
            QueuePair sender = connect();
            long sequence = 1;
            while (sequence <= APPENDS && failures.isEmpty()) {
                final int length = Entries.MIN_LENGTH + random.nextInt(random.nextInt(20) == 0 ? 8000 : 400);
                final ByteBuffer entry = entries.make(id(index, life, sequence), length);
                final int status = sender.send(sequence, entry, 0, length, TAG);
                if (status == PostStatus.POSTED) {
                    sender.poll((context, result) -> completed = result, 1);
                    if (completed == CompletionStatus.LANDED) {
                        sequence++;
                    } else if (completed == CompletionStatus.VOIDED) {
                        voided++;
                    }
                } else if (status == PostStatus.RECEIVER_NOT_READY) {
                    Thread.yield();
                }
                if (sender.isFenced()) {
                    fenced++;
                    sender.close();
                    sender = connect();
                }
            }
            sender.close();
        }

        private QueuePair connect() {
            final QueuePair pair = server.connectTo(receiver);
            // From here on a fence meets this pair.
            lives++;
            life = lives;
            return pair;
        }
    }

    /** 0 if the segment has been used up since, and its place taken: then the caller asks again. */
    private static int landedLimit(ReceiveQueue queue, long ordinal) {
        try {
            return queue.landedLimit(ordinal);
        } catch (IllegalArgumentException e) {
            assertThat(queue.currentOrdinal()).isGreaterThan(ordinal);
            return 0;
        }
    }

    private void fence() {
        final RandomSource random = new SplittableRandomSource(SEED).fork("fencer");
        while (!sendersDone.get()) {
            final int serverId = 2 + random.nextInt(2);
            final int[] lives = senders.stream().mapToInt(sender -> sender.life).toArray();
            final ReceiveQueue queue = receiver.queue();
            final FenceReport report = queue.fence(serverId);
            assertThat(report.servers().size()).isLessThanOrEqualTo(1);
            long ordinal;
            int offset;
            do {
                ordinal = queue.currentOrdinal();
                offset = ordinal < queue.postedCount() ? landedLimit(queue, ordinal) : 0;
            } while (ordinal != queue.currentOrdinal());
            for (final Sender sender : senders) {
                if (sender.serverId == serverId && lives[sender.index] > 0) {
                    borders.add(new Border(sender.index, lives[sender.index], ordinal, offset));
                }
            }
            for (int pause = random.nextInt(20); pause > 0; pause--) {
                Thread.yield();
            }
        }
    }

    /** Reads the log, and plays the other user of free segments. */
    private final class Reader implements Runnable, LandingHandler {
        final LandingCursor cursor = receiver.cursor();
        final Entries entries = new Entries();
        final long[] sequences = new long[SENDERS];
        final List<long[]> places = new ArrayList<>();
        final Deque<Integer> used = new ArrayDeque<>();
        final Deque<Integer> lent = new ArrayDeque<>();
        long quarantined;

        @Override
        public void run() {
            for (int segment = 0; segment < SEGMENTS; segment++) {
                lend(segment);
            }
            boolean last = false;
            while (failures.isEmpty()) {
                final boolean done = sendersDone.get();
                final int read = cursor.poll(this, 100);
                free();
                while (receiver.queue().postedCount() - receiver.queue().currentOrdinal() < 4 && !lent.isEmpty()) {
                    takeBack(lent.removeFirst());
                }
                if (read == 0 && done) {
                    if (last) {
                        break;
                    }
                    last = true;
                }
            }
            assertThat(cursor.isAtHole()).isFalse();
        }

        private void free() {
            for (int i = used.size(); i > 0; i--) {
                final int segment = used.removeFirst();
                if (receiver.queue().isNamed(segment)) {
                    quarantined++;
                    used.addLast(segment);
                } else {
                    lend(segment);
                }
            }
        }

        /** Another owner fills the segment. */
        private void lend(int segment) {
            final long base = receiver.settings().segmentAddress(segment);
            final ByteBuffer buffer = receiver.settings().region().buffer(base);
            final int start = receiver.settings().region().offset(base);
            for (int at = 0; at < SEGMENT; at += Long.BYTES) {
                buffer.putLong(start + at, pattern(segment, at));
            }
            lent.addLast(segment);
        }

        /** Requires the segment to be unchanged when its owner releases it. */
        private void takeBack(int segment) {
            final long base = receiver.settings().segmentAddress(segment);
            final ByteBuffer buffer = receiver.settings().region().buffer(base);
            final int start = receiver.settings().region().offset(base);
            for (int at = 0; at < SEGMENT; at += Long.BYTES) {
                if (buffer.getLong(start + at) != pattern(segment, at)) {
                    throw new AssertionError("a write into free segment " + segment + " at " + at);
                }
            }
            assertThat(receiver.post(segment)).isTrue();
        }

        private long pattern(int segment, int at) {
            return 0x7777_0000_0000_0000L | (long) segment << 32 | at;
        }

        @Override
        public void onFrame(int segment, long address, int type, int lengthBytes) {
            final int generation = receiver.queue().generationAt(cursor.ordinal());
            final long id = entries.verify(receiver.settings(), segment, address, generation, TAG);
            final int sender = (int) (id >>> 56);
            final long sequence = id & 0xFFFF_FFFFL;
            assertThat(sequence).as("sequence of sender %s", sender).isEqualTo(++sequences[sender]);
            places.add(new long[] {sender, id >>> 32 & 0xFF_FFFF, cursor.ordinal(), cursor.offset()});
        }

        @Override
        public void onSegmentClosed(long ordinal, int segment) {
            used.addLast(segment);
        }
    }

    private Thread start(String name, Runnable work) {
        final Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | Error e) {
                        failures.add(e);
                    }
                },
                name);
        thread.start();
        return thread;
    }

    @Test
    void shouldHoldUnderFourSendersAFencerAndAReader() throws InterruptedException {
        assertThat(Chaos.ENABLED).as("chaos points would hide races").isFalse();
        for (int i = 0; i < SENDERS; i++) {
            final int serverId = 2 + i / 2;
            senders.add(new Sender(
                    i, i % 2 == 0 ? TestServer.open(fabric, serverId, 1, SEGMENT) : senders.get(i - 1).server));
        }
        final Reader reader = new Reader();
        final Thread readerThread = start("reader", reader);
        final List<Thread> senderThreads = new ArrayList<>();
        senders.forEach(sender -> senderThreads.add(start("sender " + sender.index, sender)));
        final Thread fencer = start("fencer", this::fence);
        for (final Thread thread : senderThreads) {
            thread.join();
        }
        sendersDone.set(true);
        fencer.join();
        readerThread.join();
        fabric.close();

        if (!failures.isEmpty()) {
            throw new AssertionError("seed " + SEED, failures.peek());
        }
        assertThat(reader.sequences).containsOnly(APPENDS);
        assertBordersHeld(reader.places);
        assertThat(senders.stream().mapToLong(sender -> sender.fenced).sum()).isPositive();
        System.out.printf(
                "borders %d, fenced %d, voided %d, quarantined %d%n",
                borders.size(),
                senders.stream().mapToLong(sender -> sender.fenced).sum(),
                senders.stream().mapToLong(sender -> sender.voided).sum(),
                reader.quarantined);
    }

    private void assertBordersHeld(List<long[]> places) {
        for (int index = 0; index < SENDERS; index++) {
            final int sender = index;
            final List<long[]> own =
                    places.stream().filter(place -> place[0] == sender).toList();
            for (final Border border : borders) {
                if (border.sender == sender) {
                    // Places are in order, so the last one of a life is its furthest.
                    final long[] last = lastOfLife(own, border.life);
                    if (last != null
                            && (last[2] > border.ordinal || last[2] == border.ordinal && last[3] >= border.offset)) {
                        throw new AssertionError("an entry of a fenced queue pair lies behind its fence: " + border);
                    }
                }
            }
        }
    }

    /** The last place of lives up to that one, by halving; null if there is none. */
    private static long[] lastOfLife(List<long[]> places, int life) {
        int low = 0;
        int high = places.size();
        while (low < high) {
            final int middle = (low + high) / 2;
            if (places.get(middle)[1] <= life) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == 0 ? null : places.get(low - 1);
    }
}
