package org.rowankv.server.manager;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerMessages;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.server.resync.CopyListener;
import org.rowankv.server.resync.Inquiry;
import org.rowankv.topology.Configuration;

/**
 * Passes the progress of copies on to the joining servers, and the completion of this server's own to the manager, by
 * messages that are repeated until they are answered. Called by agents; the agent of the messages delivers the answers.
 * Thread-safe.
 */
public final class CopyMessages implements CopyListener {
    private static final long REPEAT_NS = 50_000_000;
    /** What is said of a shard while the receiver is busy with what it has. */
    private static final long SAY_AGAIN_NS = 250_000_000;

    /** A server that left a question unanswered is not asked for so long. */
    private static final long SILENCE_NS = 60_000_000_000L;

    private static final long ANSWERED = Long.MIN_VALUE;

    private record Said(int question, int shard, int epoch, int server) {}

    private final Supplier<Configuration> committed;
    private final PeerMessages messages;
    private final ReportMessages completions;
    private final Clock clock;
    /** When each was sent last, or that it was answered. */
    private final Map<Said, Long> sent = new ConcurrentHashMap<>();

    /** Questions by number. */
    private final Map<Long, Asked> asked = new ConcurrentHashMap<>();

    private final AtomicLong questions = new AtomicLong();
    /** By server: its process that left a question unanswered. */
    private final Map<Integer, Silence> silences = new ConcurrentHashMap<>();

    private record Silence(long incarnation, long sinceNs) {}

    private long reportedNs;

    private final class Asked implements Inquiry {
        private final long number = questions.incrementAndGet();
        private final int server;
        private final int shard;
        private final int epoch;
        private final long incarnation;
        private final ByteBuffer entries;
        private final long sinceNs = clock.nanoTime();
        private final AtomicLong sentNs = new AtomicLong(sinceNs);
        private volatile @Nullable BitSet answer;

        Asked(int server, int shard, int epoch, ByteBuffer entries) {
            this.server = server;
            this.shard = shard;
            this.epoch = epoch;
            this.incarnation = incarnation(server);
            this.entries = entries;
        }

        void send() {
            messages.send(
                    server,
                    PeerMessageDescriptor.write(
                            PeerRequestType.PRESENT,
                            false,
                            shard,
                            committed.get().term(),
                            number,
                            epoch,
                            entries));
        }

        @Override
        public boolean isOver() {
            final long nowNs = clock.nanoTime();
            if (answer == null && nowNs - sinceNs < PATIENCE_NS) {
                final long lastNs = sentNs.get();
                if (nowNs - lastNs >= SAY_AGAIN_NS && sentNs.compareAndSet(lastNs, nowNs)) {
                    send(); // a message may be lost
                }
                return false;
            }
            // Of an epoch that is over nothing is answered.
            if (asked.remove(number) != null
                    && answer == null
                    && committed.get().shard(shard).epoch() == epoch) {
                silences.put(server, new Silence(incarnation, clock.nanoTime()));
            }
            return true;
        }

        @Override
        public @Nullable BitSet answer() {
            return answer;
        }
    }

    /** @param committed supplies the configuration in force */
    public CopyMessages(
            Supplier<Configuration> committed, PeerMessages messages, ReportMessages completions, Clock clock) {
        this.committed = committed;
        this.messages = messages;
        this.completions = completions;
        this.clock = clock;
        this.reportedNs = clock.nanoTime() - REPEAT_NS;
    }

    @Override
    public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
        return say(
                new Said(PeerRequestType.COPY_ANNOUNCED, shard, epoch, server),
                bytes,
                ByteBuffer.wrap(destroyed.toByteArray()));
    }

    @Override
    public boolean copied(int shard, int epoch, int server) {
        return say(new Said(PeerRequestType.COPIED, shard, epoch, server), 0, ByteBuffer.allocate(0));
    }

    private boolean say(Said said, long bytes, ByteBuffer payload) {
        final long nowNs = clock.nanoTime();
        final Long last = sent.get(said);
        if (last != null && last == ANSWERED) {
            sent.remove(said);
            return true;
        }
        if (last == null || nowNs - last >= SAY_AGAIN_NS) {
            sent.put(said, nowNs);
            messages.send(
                    said.server,
                    PeerMessageDescriptor.write(
                            said.question, false, said.shard, committed.get().term(), said.epoch, bytes, payload));
        }
        return false;
    }

    /** A server that lately left a question unanswered is not asked: each question would delay the copy. */
    @Override
    public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
        asked.values().forEach(Asked::isOver); // though it may never be read
        final Silence silence = silences.get(server);
        if (silence != null
                && silence.incarnation == incarnation(server)
                && clock.nanoTime() - silence.sinceNs < SILENCE_NS) {
            return Inquiry.over(null);
        }
        final Asked next = new Asked(server, shard, epoch, question);
        asked.put(next.number, next);
        next.send();
        return next;
    }

    private long incarnation(int server) {
        return committed.get().incarnations().get(server);
    }

    private void answered(Asked question, int from, ByteBuffer message) {
        if (question.server == from) {
            question.answer = BitSet.valueOf(PeerMessageDescriptor.payload(message));
            asked.remove(question.number);
            silences.remove(from);
        }
    }

    /** The number of such a message is the epoch, but for a question. */
    void answered(int from, ByteBuffer message) {
        if (PeerMessageDescriptor.question(message) == PeerRequestType.PRESENT) {
            final Asked question = asked.get(PeerMessageDescriptor.number(message));
            if (question != null) {
                answered(question, from, message);
            }
            return;
        }
        final Said said = new Said(
                PeerMessageDescriptor.question(message),
                PeerMessageDescriptor.shard(message),
                (int) PeerMessageDescriptor.number(message),
                from);
        sent.computeIfPresent(said, (key, last) -> ANSWERED);
    }

    @Override
    public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
        final Configuration present = committed.get();
        if (epochs.keySet().stream().noneMatch(shard -> present.shard(shard).isJoining(server))) {
            return true;
        }
        final long nowNs = clock.nanoTime();
        if (nowNs - reportedNs < REPEAT_NS) {
            return false;
        }
        reportedNs = nowNs;
        completions.tell(present, epochs);
        return false;
    }
}
