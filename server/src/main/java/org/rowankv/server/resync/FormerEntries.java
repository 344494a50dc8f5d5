package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.FormerSegments;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server that returns has of what it lacks: it lies in its {@linkplain FormerSegments former segments}. Before
 * the primaries copy their shards, these are read, the newest first; the primaries are asked which of the objects there
 * are current, and those are appended again, under the new tenure. What is void stays so until then, and again after a
 * crash. A segment that was read is free for the next.
 *
 * <p>A primary is asked in the epoch only in which it has announced the copy: from then on its index shows everything
 * from before this tenure, and what is newer is sent here.
 *
 * <p>What is missed is copied, no more. So nothing here is awaited for long, and it ends when it brings less than a copy
 * would.
 *
 * <p>Used by the server's agents.
 */
final class FormerEntries implements SegmentScan.Visitor {
    private static final Logger LOG = LoggerFactory.getLogger(FormerEntries.class);
    /** So long the next announcement is awaited: a primary measures all shards first, and copies none before. */
    private static final long PATIENCE_NS = 5_000_000_000L;

    private static final long WINDOW_NS = 10_000_000_000L;
    /** Fewer bytes in that time are copied sooner. */
    private static final long LEAST_BYTES = 80 << 20;

    private static final int STEP = 64 << 10;
    private static final int STEPS_PER_TURN = 4;
    /** At most so many entries lie in a step, with the one that reaches beyond. */
    private static final int ENTRIES_PER_STEP = STEP / FrameDescriptor.STRIDE + 1;

    private static final int BATCH = 32 * ENTRIES_PER_STEP;
    /** Entries of the questions under way: their answers take time of a thread that also answers about leases. */
    private static final int OUTSTANDING = 4096;

    private static final int SEGMENTS_PER_BATCH = 8;
    private static final int APPENDED_PER_TURN = 128;
    private static final int BYTES_PER_TURN = 256 << 10;
    private static final int FREED_PER_TURN = 8;
    /** A horizon that precedes everything: an entry may be older than any tombstone here. */
    private static final int OLDEST = 1;

    private enum Step {
        AWAITING_ANNOUNCEMENTS,
        READING,
        ASKING,
        APPENDING,
        ENDING,
        OVER
    }

    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final DigestAgent digest;
    private final CurrentRoles roles;
    private final CopyListener copies;
    private final Clock clock;
    private final OwnedCounter reused;
    private final AppendLog log;
    private final SegmentScan scan;
    private final Deque<Integer> toRead;
    /** Shards whose primaries do not announce or answer, with the epoch. */
    private final Map<Integer, Integer> silent = new HashMap<>();

    private Step step = Step.AWAITING_ANNOUNCEMENTS;
    private int announced;
    private long announcedNs;
    private boolean hasBegun;
    private long windowNs;
    private long bytesInWindow;
    /** The segment that is being read, or −1; the last one of the batch. */
    private int segment = -1;
    /** The batch must be read once more: some of its entries were not asked for in the present epoch. */
    private boolean again;

    // --- the present batch: entries of some segments ---
    /** With their uses. */
    private final Map<Integer, Long> inBatch = new LinkedHashMap<>();

    private final long[] addresses = new long[BATCH];
    private final long[] positions = new long[BATCH];
    private final long[] versions = new long[BATCH];
    private final int[] checksums = new int[BATCH];
    private final @Nullable ShardReplica[] replicaOf = new @Nullable ShardReplica[BATCH];
    private int count;
    private final Map<Integer, Question> open = new HashMap<>();
    private final Queue<Question> toAsk = new ArrayDeque<>();
    private final List<Question> asked = new ArrayList<>();
    private int outstanding;
    private final BitSet current = new BitSet(BATCH);
    private int appended;

    private byte[] keyScratch = new byte[256];

    /** About entries of one shard, by their numbers in the batch, in the epoch in which they were read. */
    private static final class Question {
        private final int shard;
        private final int epoch;
        private int[] numbers = new int[8];
        private int count;
        private @Nullable Inquiry inquiry;

        Question(int shard, int epoch) {
            this.shard = shard;
            this.epoch = epoch;
        }

        void add(int number) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = number;
        }
    }

    /** @param reused counts the entries that need not be copied */
    FormerEntries(
            int serverId,
            Segments segments,
            Replicas replicas,
            DigestAgent digest,
            CurrentRoles roles,
            CopyListener copies,
            Clock clock,
            OwnedCounter reused) {
        this.serverId = serverId;
        this.segments = segments;
        this.replicas = replicas;
        this.digest = digest;
        this.roles = roles;
        this.copies = copies;
        this.clock = clock;
        this.reused = reused;
        this.log = new AppendLog(segments, SegmentOwner.CLEAN, segments.cleanerReserve());
        this.scan = new SegmentScan(segments.region());
        this.toRead = new ArrayDeque<>(segments.former().newestFirst());
    }

    /** Whether nothing more is found: what is missing now must be copied. */
    boolean isOver() {
        return step == Step.OVER;
    }

    /** Makes some progress; returns the number of steps. */
    int advance() {
        return switch (step) {
            case AWAITING_ANNOUNCEMENTS -> awaitAnnouncements();
            case READING -> read();
            case ASKING -> awaitAnswers();
            case APPENDING -> append();
            case ENDING -> end();
            case OVER -> 0;
        };
    }

    /** Before each batch. While no shard is announced in the present epochs, nothing waits for this. */
    private int awaitAnnouncements() {
        int here = 0;
        boolean areAll = true;
        for (ShardReplica replica : replicas.all()) {
            if (replica.isJoining()) {
                final boolean isAnnounced = isAnnounced(replica.shardId());
                here += isAnnounced ? 1 : 0;
                areAll &= isAnnounced || isSilent(replica.shardId());
            }
        }
        final long nowNs = clock.nanoTime();
        if (here != announced) {
            announced = here;
            announcedNs = nowNs;
        }
        if (here == 0) {
            windowNs = nowNs;
            bytesInWindow = 0;
            return 0;
        }
        if (hasBegun && isOfLittleUse(nowNs)) {
            step = Step.ENDING;
            return 1;
        }
        if (!areAll && nowNs - announcedNs < PATIENCE_NS) {
            return 0;
        }
        for (ShardReplica replica : replicas.all()) {
            if (replica.isJoining() && !isAnnounced(replica.shardId())) {
                silent.put(replica.shardId(), roles.get().epoch(replica.shardId()));
            }
        }
        if (!hasBegun) {
            hasBegun = true;
            windowNs = nowNs;
        }
        step = Step.READING;
        return 1;
    }

    private boolean isAnnounced(int shard) {
        return digest.reserve().epoch(shard) == roles.get().epoch(shard);
    }

    private boolean isSilent(int shard) {
        return silent.getOrDefault(shard, 0) == roles.get().epoch(shard);
    }

    private boolean isOfLittleUse(long nowNs) {
        if (nowNs - windowNs < WINDOW_NS) {
            return false;
        }
        final boolean isLittle = bytesInWindow < LEAST_BYTES;
        windowNs = nowNs;
        bytesInWindow = 0;
        return isLittle;
    }

    private int read() {
        boolean isFull = false;
        for (int i = 0; i < STEPS_PER_TURN && !isFull; i++) {
            if (segment >= 0 && isThere(segment) && !scan.isDone()) {
                isFull = count + ENTRIES_PER_STEP > BATCH;
                final int unused = isFull ? 0 : scan.advance(STEP, this);
            } else {
                isFull = !beginSegment();
            }
        }
        if (!isFull) {
            return 1;
        }
        if (inBatch.isEmpty()) {
            step = Step.ENDING;
            return 1;
        }
        toAsk.addAll(open.values());
        open.clear();
        step = Step.ASKING;
        return 1;
    }

    /** False if there is none, or the batch has enough. */
    private boolean beginSegment() {
        while (inBatch.size() < SEGMENTS_PER_BATCH && !toRead.isEmpty()) {
            segment = toRead.remove();
            if (segments.former().isKept(segment)) {
                inBatch.put(segment, segments.use(segment));
                scan.begin(segments.area().addressOf(segment), segments.length(), segments.generation(segment));
                return true;
            }
        }
        return false;
    }

    /** Whether the cleaner has not given it up for room. */
    private boolean isThere(int read) {
        final Long use = inBatch.get(read);
        return use != null && segments.use(read) == use;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        final int shard = EntryDescriptor.shard(buffer, at);
        final ShardReplica replica = replicas.find(shard);
        final long version = EntryDescriptor.version(buffer, at);
        if (replica == null
                || !replica.isCopied(version)
                || !replica.isVisible(type, EntryDescriptor.cacheId(buffer, at), version)
                || isSilent(shard)) {
            return;
        }
        if (!isAnnounced(shard)) {
            again = true; // another primary has come meanwhile, and will announce its copy
            return;
        }
        final int keyLength = EntryDescriptor.keyLength(buffer, at);
        if (keyLength > keyScratch.length) {
            keyScratch = new byte[Math.max(keyLength, 2 * keyScratch.length)];
        }
        addresses[count] = address;
        positions[count] = replica.positionOf(buffer, at, keyScratch);
        versions[count] = version;
        checksums[count] = FrameDescriptor.bodyCrc(buffer, at);
        replicaOf[count] = replica;
        final Question question = open.computeIfAbsent(
                shard, key -> new Question(shard, roles.get().epoch(shard)));
        question.add(count++);
        if (question.count == PresentEntries.MOST) {
            toAsk.add(question);
            open.remove(shard);
        }
    }

    @Override
    public void onInvalid(long address, String reason) {
        // It is copied like everything else that is missing here.
    }

    private int awaitAnswers() {
        int done = 0;
        while (outstanding < OUTSTANDING && !toAsk.isEmpty()) {
            ask(toAsk.remove());
            done++;
        }
        final Iterator<Question> each = asked.iterator();
        while (each.hasNext()) {
            final Question question = each.next();
            final Inquiry inquiry = question.inquiry;
            final boolean isPast = isPast(question);
            if (isPast || inquiry != null && inquiry.isOver()) {
                if (isPast) {
                    again = true;
                } else if (inquiry != null) {
                    take(question, inquiry.answer());
                }
                each.remove();
                outstanding -= question.count;
                done++;
            }
        }
        if (asked.isEmpty() && toAsk.isEmpty()) {
            appended = 0;
            step = Step.APPENDING;
            done++;
        }
        return done;
    }

    /** What another primary has not announced may be on its way to it still. */
    private boolean isPast(Question question) {
        return roles.get().epoch(question.shard) != question.epoch;
    }

    private void ask(Question question) {
        final var present = roles.get().configuration().shard(question.shard);
        if (present.epoch() != question.epoch) {
            again = true;
            return;
        }
        final ByteBuffer entries = PresentEntries.question(question.count);
        for (int i = 0; i < question.count; i++) {
            final int number = question.numbers[i];
            PresentEntries.add(entries, positions[number], versions[number], checksums[number]);
        }
        question.inquiry = copies.ask(present.primary(), question.shard, question.epoch, entries.flip());
        asked.add(question);
        outstanding += question.count;
    }

    private void take(Question question, @Nullable BitSet answer) {
        if (answer == null) {
            silent.put(question.shard, question.epoch);
            return;
        }
        for (int i = answer.nextSetBit(0); i >= 0 && i < question.count; i = answer.nextSetBit(i + 1)) {
            current.set(question.numbers[i]);
        }
    }

    private int append() {
        final long enough = bytesInWindow + BYTES_PER_TURN;
        for (int i = 0; i < APPENDED_PER_TURN && bytesInWindow < enough; i++) {
            appended = current.nextSetBit(appended);
            if (appended < 0) {
                endBatch();
                return 1;
            }
            if (!append(appended)) {
                if (isOfLittleUse(clock.nanoTime())) {
                    step = Step.ENDING;
                }
                return 0; // the cleaner makes room
            }
            appended++;
        }
        return 1;
    }

    private void endBatch() {
        current.clear();
        Arrays.fill(replicaOf, 0, count, null);
        count = 0;
        final boolean isPartlyRead = segment >= 0 && isThere(segment) && !scan.isDone();
        for (int read : inBatch.keySet()) {
            if (again) {
                toRead.addFirst(read);
            } else if (isThere(read) && !(isPartlyRead && read == segment)) {
                segments.former().free(read);
            }
        }
        if (again || !isPartlyRead) {
            inBatch.clear();
            segment = -1;
        } else {
            inBatch.keySet().retainAll(Set.of(segment));
        }
        again = false;
        step = Step.AWAITING_ANNOUNCEMENTS;
    }

    /** False if there is no room. */
    private boolean append(int number) {
        final long address = addresses[number];
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final ShardReplica replica = replicaOf[number];
        if (replica == null
                || !isThere(segments.segmentOf(address))
                || !replicas.has(replica)
                || !replica.isCopied(versions[number])
                || PresentEntries.isPresent(
                        replica, segments, positions[number], versions[number], checksums[number])) {
            return true;
        }
        final long word = FrameDescriptor.wordPlain(buffer, at);
        final int length = FrameDescriptor.length(word);
        if (!log.ensureRoom(length, OLDEST)) {
            return false;
        }
        final int type = FrameDescriptor.type(word);
        final long copy = log.appendCopy(buffer, at, length, type, replica.tenure(), 0);
        Chaos.point("former.copied");
        digest.takeEffect(copy, type, length);
        reused.add(1);
        bytesInWindow += length;
        return true;
    }

    /** Frees what was not read. */
    private int end() {
        final List<Integer> left = segments.former().newestFirst();
        left.subList(0, Math.min(FREED_PER_TURN, left.size())).forEach(segments.former()::free);
        if (left.size() <= FREED_PER_TURN) {
            log.close(); // on the device, before a replica counts as complete
            Chaos.point("former.over");
            step = Step.OVER;
            LOG.info("server {}: {} entries from before need not be copied", serverId, reused.get());
        }
        return 1;
    }

    void close() {
        log.retire();
    }
}
