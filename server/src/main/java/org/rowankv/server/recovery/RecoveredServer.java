package org.rowankv.server.recovery;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.checkpoint.CheckpointLoader;
import org.rowankv.server.cleaning.CleanAgent;
import org.rowankv.server.digest.EntryAssembler;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.FormerReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The recovery of one server: reads every segment of its area, applies each valid entry to the shards' replicas, and
 * records the candidates of the collect, which may not be on all replicas. Used by one thread, before any agent runs;
 * the read itself may use more.
 */
public final class RecoveredServer implements EntryAssembler.Handler {
    private static final Logger LOG = LoggerFactory.getLogger(RecoveredServer.class);
    private static final int LOCK_OWNER = 1 << 21;
    /** A horizon that precedes everything. */
    private static final int OLDEST = 1;
    /** Free segments reserved for the cleaner, which cannot make room without one. */
    private static final int FOR_CLEANING = 1;

    private final int serverId;
    private final Segments segments;
    private final Replicas replicas;
    private final ErrorLog errors;
    private final boolean replicated;
    private final boolean placedBySenders;
    private final EntryAssembler assembler;
    private final AppendLog log;
    /** One for the whole start, so that the live entries of its victims are placed together. */
    private @Nullable CleanAgent cleaner;

    private final List<SegmentReader> readers = new ArrayList<>();
    private final RetainedCandidates kept;
    private volatile boolean isSettled;
    /** Of the thread that uses this. */
    private final SegmentReader reader;

    /** @param replicated whether other servers hold replicas too; otherwise there is none to collect from */
    public RecoveredServer(int serverId, Segments segments, Replicas replicas, boolean replicated, ErrorLog errors) {
        this(serverId, segments, replicas, replicated, false, errors);
    }

    /**
     * As above.
     *
     * @param placedBySenders whether senders place their entries themselves: the end of this process may have cut off a
     *     WRITE, of which the card had stored the first bytes
     */
    public RecoveredServer(
            int serverId,
            Segments segments,
            Replicas replicas,
            boolean replicated,
            boolean placedBySenders,
            ErrorLog errors) {
        this.placedBySenders = placedBySenders;
        this.serverId = serverId;
        this.segments = segments;
        this.replicas = replicas;
        this.errors = errors;
        this.replicated = replicated;
        this.assembler = new EntryAssembler(segments, FOR_CLEANING);
        this.log = new AppendLog(segments, SegmentOwner.CLEAN, FOR_CLEANING);
        this.reader = addReader();
        this.kept = new RetainedCandidates(segments, readers);
    }

    private SegmentReader addReader() {
        final SegmentReader added = new SegmentReader(
                serverId,
                segments,
                replicas,
                assembler,
                this,
                errors,
                replicated,
                placedBySenders,
                LOCK_OWNER + readers.size());
        readers.add(added);
        return added;
    }

    public int serverId() {
        return serverId;
    }

    public Segments segments() {
        return segments;
    }

    public Replicas replicas() {
        return replicas;
    }

    /** Valid entries found. */
    public long entries() {
        long sum = 0;
        for (SegmentReader reader : readers) {
            sum += reader.entries();
        }
        return sum;
    }

    /** Places that claimed to be entries and are not: torn by a power cut, or damaged. */
    public long tornEntries() {
        long sum = 0;
        for (SegmentReader reader : readers) {
            sum += reader.tornEntries();
        }
        return sum;
    }

    /**
     * What {@link #read} has found of replicas that were here formerly. {@link #settle} frees it, {@link
     * #keepFormer} ends it. For other threads too, once it is read.
     */
    public List<FormerReplica> former() {
        final List<FormerReplica> former = new ArrayList<>();
        for (int shard = 0; shard < replicas.shardCount() && !isSettled; shard++) {
            long entries = 0;
            long newest = 0;
            for (SegmentReader each : readers) {
                entries += each.formerEntries(shard);
                newest = Math.max(newest, each.formerNewest(shard));
            }
            if (entries > 0) {
                former.add(new FormerReplica(shard, newest, entries));
            }
        }
        return former;
    }

    /**
     * {@link #read}, then {@link #settle}, if this server has complete replicas. Otherwise its former ones, of which no
     * checkpoint is used, stay until it has roles: if all others are lost, they may be what is left.
     */
    public void scan(int threads, Clock clock, @Nullable CheckpointLoader checkpoint) {
        final boolean hasReplicas = !replicas.all().isEmpty();
        read(threads, clock, hasReplicas ? checkpoint : null);
        if (hasReplicas) {
            settle();
        }
    }

    /**
     * Reads the whole area, except for what a usable checkpoint covers. Removes nothing from the area: missing entries
     * on another server may change what counts here. {@link #settle} follows, once that is decided.
     *
     * @param threads that may read at the same time, the caller's included
     * @throws org.rowankv.server.area.UnusableAreaException if a landed entry is damaged; the area is then marked
     */
    public void read(int threads, Clock clock, @Nullable CheckpointLoader checkpoint) {
        forEachReplica(replica -> {
            // While a replica is catching up, digest and cleaner run before its scan ends: it keeps the first copy
            // found.
            if (!replica.isJoining()) {
                replica.beginScan();
            }
        });
        if (checkpoint != null) {
            checkpoint.load(
                    threads, (shards, each) -> new ScanThreads("rowan-checkpoint-" + serverId, shards, each).readAll());
        }
        final List<Integer> toRead = inUse();
        if (checkpoint != null) {
            toRead.removeIf(checkpoint::isCovered);
        }
        // The newest first: their CommitVer excludes most of the older ones as candidates.
        toRead.sort(Comparator.comparingLong(segments::sequence).reversed());
        while (readers.size() < Math.min(threads, toRead.size())) {
            addReader();
        }
        final ScanProgress progress = new ScanProgress(serverId, toRead.size(), clock, LOG::info);
        final List<IntConsumer> each = new ArrayList<>();
        for (SegmentReader reader : readers) {
            each.add(s -> progress.segmentRead(reader.read(s)));
        }
        new ScanThreads("rowan-scan-" + serverId, toRead, each).readAll();
        requireComplete();
    }

    private List<Integer> inUse() {
        final List<Integer> inUse = new ArrayList<>();
        for (int s = 0; s < segments.count(); s++) {
            if (segments.state(s) != SegmentState.FREE) {
                inUse.add(s);
            }
        }
        return inUse;
    }

    /**
     * Frees segments without anything that counts, and assembles large entries. After {@link #read}, once the roles
     * that it used are stored: what they make void is gone afterwards.
     */
    public void settle() {
        if (isSettled) {
            return;
        }
        isSettled = true;
        assembler.giveUpIncomplete(this); // no more of their blocks arrive, and their segments may be needed
        freeDeadSegments(inUse());
        Chaos.point("start.dead-freed");
        assembler.orderBySegment();
        while (!assembler.isIdle()) {
            if (assembler.assemble(this) == 0 && !assembler.isIdle()) {
                makeRoom("assemble large entries");
            }
        }
        assembler.log().retire();
    }

    /**
     * Nothing that was read counts: the roles of this server begin anew with copies from others. What was read is kept
     * as {@linkplain Segments#former former}, for it may save a part of these copies. Instead of {@link #finish}.
     */
    public void keepFormer() {
        isSettled = true;
        assembler.log().retire();
        log.retire();
        kept.end();
        segments.area().drain(); // what was torn is void on the device before its segment is committed there
        for (int s : inUse()) {
            final SegmentState state = segments.state(s);
            if (state != SegmentState.COMMITTED) {
                segments.transition(s, state, SegmentState.COMMITTED);
            }
            if (segments.entryBytes(s) > 0) {
                segments.former().keep(s);
            } else {
                segments.free(s);
            }
        }
        segments.recountSpace();
    }

    /**
     * A replica without an entry that others count as replicated is unusable. Without other replicas there is no source
     * for it, and the damage was reported.
     */
    private void requireComplete() {
        for (SegmentReader reader : readers) {
            if (reader.damagedLandings() > 0) {
                throw segments.area().foundIncomplete();
            }
        }
    }

    /**
     * Frees segments that were posted and never written, or that hold only dead entries, for what follows. Not those
     * with candidates: another replica may still take over a dead one, for its completion.
     */
    private void freeDeadSegments(List<Integer> inUse) {
        for (int s : inUse) {
            final int live = segments.liveBytes(s, 0);
            if (live == 0 && segments.tombstoneBytes(s) == 0 && !isReferredTo(s)) {
                final SegmentState state = segments.state(s);
                if (state != SegmentState.COMMITTED) {
                    segments.transition(s, state, SegmentState.COMMITTED);
                }
                segments.free(s);
            }
        }
    }

    /** Cleans a segment, or fails. Candidates move with copied entries. */
    private void makeRoom(String purpose) {
        CleanAgent used = cleaner;
        if (used == null) {
            used = CleanAgent.ofAStart(segments, replicas, assembler::holdsBlockOf, kept);
            resume(used);
            cleaner = used;
        }
        segments.area().drain(); // what was torn is void on the device before its segment is committed there
        for (int s = 0; s < segments.count(); s++) {
            final SegmentState state = segments.state(s);
            if (segments.isClosed(s) && (state == SegmentState.USING || state == SegmentState.USED)) {
                segments.transition(s, state, SegmentState.COMMITTED);
            }
        }
        kept.hold();
        if (!used.cleanOne()) {
            throw new StoreOpenException("server " + serverId + ": no free segment is left to " + purpose
                    + "; a copy of the directory opens with a larger capacity once this version can change it");
        }
    }

    /**
     * Continues the log of copies that a crash interrupted, in the segment with the most room. The interrupted cleaner
     * may have taken the last free segment. Its remaining copies fit after the existing ones, so its victim can be
     * emptied, however often that is interrupted.
     */
    private void resume(CleanAgent resuming) {
        int best = -1;
        int bestEnd = segments.length();
        for (int s = 0; s < segments.count(); s++) {
            if (segments.isClosed(s)
                    && segments.state(s) == SegmentState.USING
                    && segments.owner(s) == SegmentOwner.CLEAN) {
                final int end = segments.endOf(s);
                if (end < bestEnd) {
                    best = s;
                    bestEnd = end;
                }
            }
        }
        if (best >= 0) {
            resuming.resume(best);
        }
    }

    private boolean isReferredTo(int candidate) {
        return assembler.holdsBlockOf(candidate)
                || readers.stream().anyMatch(each -> each.candidates().isReferredTo(candidate));
    }

    private void forEachReplica(java.util.function.Consumer<ShardReplica> action) {
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            if (replicas.has(shard)) {
                action.accept(replicas.get(shard));
            }
        }
    }

    /**
     * The blocks of an entry stay in the log for a while after its assembly; then the index holds the entry or a newer
     * one. A superseded entry is needed for its outcome only, which a client may request from the present primary.
     */
    @Override
    public boolean accepts(ByteBuffer entry, int at, int type) {
        return !reader.isOfNoUse(entry, at, type);
    }

    @Override
    public void onAssembled(long address, int type, int length) {
        reader.entry(segments.region().buffer(address), segments.region().offset(address), address, type, length);
    }

    @Override
    public void onBlockDone(long address, int length, boolean repeated) {
        segments.markDead(address, length);
    }

    /** Versions of the candidates of a shard above what is known to be on all replicas, in ascending order. */
    public SortedSet<Long> candidates(int shard, long commitVersion) {
        final SortedSet<Long> above = new TreeSet<>();
        readers.forEach(each -> each.candidates().addAbove(shard, commitVersion, above));
        return above;
    }

    /** The address of a candidate, until the next call that may make room; 0 if it is none. */
    public long candidate(int shard, long version) {
        for (SegmentReader each : readers) {
            final long address = each.candidates().addressOf(shard, version);
            if (address != 0) {
                requireEntry(address, version);
                return address;
            }
        }
        return 0;
    }

    /** Cleaning must have moved the candidate along. */
    private void requireEntry(long address, long version) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int generation = segments.generation(segments.segmentOf(address));
        if (generation == 0
                || FrameDescriptor.generation(FrameDescriptor.wordPlain(buffer, at)) != generation
                || EntryDescriptor.version(buffer, at) != version) {
            throw new AssertionError("server " + serverId + " has lost track of version " + version);
        }
    }

    /** All replicas of the shard have all candidates of it except these, each of which some replica lacks. */
    public void agreeAllBut(int shard, Set<Long> lacking) {
        kept.keepOnly(shard, lacking);
    }

    /** Takes over an entry that another replica has and this one lacks, found whole there. */
    public void takeOver(ByteBuffer source, int sourceAt, int tenure) {
        final long word = FrameDescriptor.wordPlain(source, sourceAt);
        final int type = FrameDescriptor.type(word);
        if (reader.isOfNoUse(source, sourceAt, type)) {
            return;
        }
        // The oldest horizon: the copy may be older than tombstones found here.
        while (!log.ensureRoom(FrameDescriptor.length(word), OLDEST)) {
            makeRoom("take over entries of other replicas");
        }
        final long address = log.appendCopy(source, sourceAt, FrameDescriptor.length(word), type, tenure, 0);
        reader.apply(
                segments.region().buffer(address),
                segments.region().offset(address),
                address,
                type,
                FrameDescriptor.length(word));
    }

    /** All replicas own the same entries: everything found is committed, once it is persistent. */
    public void finish() {
        segments.area().drain(); // what was torn is void on the device before its segment is committed there
        log.retire();
        if (cleaner != null) {
            cleaner.onClose();
        }
        for (int s = 0; s < segments.count(); s++) {
            final SegmentState state = segments.state(s);
            if (state == SegmentState.USING || state == SegmentState.USED) {
                segments.transition(s, state, SegmentState.COMMITTED);
            }
        }
        // Not earlier: entries taken over arrive in any order too, and a session's opening may come from a replica that
        // has not dropped it, after its end was read here.
        forEachReplica(replica -> {
            if (!replica.isJoining()) { // else it goes on
                replica.endScan();
                replica.recovered(LOCK_OWNER);
            }
        });
        kept.end();
        segments.recountSpace();
    }
}
