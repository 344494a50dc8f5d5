package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * Which objects of a shard a replica that is catching up has already: it had them before, or another primary has begun
 * the copy. Asked for some buckets at a time, a few times ahead of the copy. Once an answer shows that it has next to
 * nothing, which hashes spread evenly, or none comes, it is not asked any more.
 *
 * <p>It may miss an entry, which then is copied for nothing. Used by one agent.
 */
final class Inventory {
    private static final int LOCK_OWNER = (1 << 20) + 9;
    private static final int BUCKETS_PER_LOCK = 16;
    private static final int BUCKETS_PER_QUESTION = 4096;
    /** The buckets of one lock more fit, hardly ever not. */
    private static final int ENOUGH = PresentEntries.MOST * 3 / 4;
    /** So many answers without any show that it has next to nothing. */
    private static final int CONCLUSIVE = PresentEntries.MOST / 4;

    private static final int QUESTIONS_AHEAD = 2;
    /** More than twice as many slots of two words as entries, a power of two. */
    private static final int SLOTS = 4 * PresentEntries.MOST;

    private final Segments segments;
    private final ShardReplica replica;
    private final long end;
    private final Function<ByteBuffer, Inquiry> receiver;
    /** Under way, in sequence. */
    private final Deque<Question> ahead = new ArrayDeque<>();
    /** Where the next question begins, if any is left. */
    private long next;

    private boolean isAskedToTheEnd;
    /** Those that are known end there, if any are; 0 for the end of all. */
    private long knownTo;

    private boolean isAnyKnown;
    /** Of those: addresses and versions of the entries that are there. */
    private final long[] present = new long[2 * SLOTS];

    private boolean isUseless;
    private long found;

    /** About the entries of some buckets. */
    private static final class Question {
        private final long[] addresses = new long[PresentEntries.MOST];
        private final long[] versions = new long[PresentEntries.MOST];
        private final ByteBuffer entries = PresentEntries.question(PresentEntries.MOST);
        private int count;
        private long to;
        private @Nullable Inquiry inquiry;
    }

    /**
     * @param end version at which the tenure of the other replica began
     * @param receiver asks its server
     */
    Inventory(Segments segments, ShardReplica replica, long end, Function<ByteBuffer, Inquiry> receiver) {
        this.segments = segments;
        this.replica = replica;
        this.end = end;
        this.receiver = receiver;
    }

    /** Asks for what comes next; first once, for it may show that all others are in vain. */
    private void askAhead() {
        final int most = isAnyKnown ? QUESTIONS_AHEAD : 1;
        while (!isUseless && !isAskedToTheEnd && ahead.size() < most) {
            final Question question = questionFrom(next);
            question.inquiry = question.count == 0 ? null : receiver.apply(question.entries.flip());
            ahead.add(question);
            next = question.to;
            isAskedToTheEnd = question.to == 0;
        }
    }

    /** In another epoch another server may answer, or the same one again. */
    void askAgain() {
        ahead.clear();
        next = isAnyKnown ? knownTo : 0;
        isAskedToTheEnd = isAnyKnown && knownTo == 0;
    }

    /** Whether it is known for the bucket at that position, not before the last one; else it is asked for: call again. */
    boolean isKnown(long position) {
        while (!isUseless && !(isAnyKnown && (knownTo == 0 || Long.compareUnsigned(position, knownTo) < 0))) {
            askAhead();
            final Question first = ahead.getFirst();
            if (first.inquiry != null && !first.inquiry.isOver()) {
                return false;
            }
            ahead.removeFirst();
            take(first);
        }
        return true;
    }

    private Question questionFrom(long position) {
        final Question question = new Question();
        question.to = position;
        int buckets = 0;
        do {
            replica.index().lock(LOCK_OWNER);
            try {
                for (int i = 0; i < BUCKETS_PER_LOCK && (buckets == 0 || question.to != 0); i++, buckets++) {
                    question.to = replica.index().visitItems(question.to, item -> add(question, item));
                }
            } finally {
                replica.index().unlock();
            }
        } while (question.to != 0 && question.count < ENOUGH && buckets < BUCKETS_PER_QUESTION);
        return question;
    }

    private void add(Question question, long item) {
        final long address = IndexItem.address(item);
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long version = EntryDescriptor.version(entry, at);
        if (version < end
                && EntryType.holdsObject(FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at)))
                && question.count < PresentEntries.MOST) {
            question.addresses[question.count] = address;
            question.versions[question.count++] = version;
            PresentEntries.add(question.entries, IndexItem.position(item), version, FrameDescriptor.bodyCrc(entry, at));
        }
    }

    private void take(Question question) {
        Arrays.fill(present, 0);
        isAnyKnown = true;
        knownTo = question.to;
        if (question.inquiry == null) {
            return;
        }
        final BitSet answer = question.inquiry.answer();
        if (answer == null || answer.isEmpty() && question.count >= CONCLUSIVE) {
            isUseless = true;
            ahead.clear();
            return;
        }
        for (int i = answer.nextSetBit(0); i >= 0 && i < question.count; i = answer.nextSetBit(i + 1)) {
            int slot = slotOf(question.addresses[i]);
            while (present[2 * slot] != 0) {
                slot = (slot + 1) % SLOTS;
            }
            present[2 * slot] = question.addresses[i];
            present[2 * slot + 1] = question.versions[i];
            found++;
        }
        if (!answer.isEmpty()) {
            Chaos.point("copy.present");
        }
    }

    private static int slotOf(long address) {
        return (int) (address / FrameDescriptor.STRIDE * 0x9E37_79B9_7F4A_7C15L >>> Integer.SIZE) & SLOTS - 1;
    }

    /** Whether the receiver has that version, which lies here. */
    boolean has(long address, long version) {
        int slot = slotOf(address);
        while (present[2 * slot] != 0) {
            if (present[2 * slot] == address && present[2 * slot + 1] == version) {
                return true;
            }
            slot = (slot + 1) % SLOTS;
        }
        return false;
    }

    /** Entries that need not be copied, so far. */
    long found() {
        return found;
    }
}
