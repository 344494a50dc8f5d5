package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.checkpoint.Checkpoint.CoveredSegment;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.CheckpointBound;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The load of the newest checkpoint that is intact, belongs to this area, and fits it; without one, the start begins
 * with nothing. A checkpoint that is damaged, foreign, newer than the area or of an unknown format is skipped with a
 * warning, and removed. A file that cannot be removed is only logged, except for a checkpoint newer than the area: a
 * later start, when the area has grown, would trust it.
 *
 * <p>For one thread, inside {@link CheckpointStore#run}; before any other use of the area.
 */
public final class CheckpointLoader {
    private static final Logger LOG = LoggerFactory.getLogger(CheckpointLoader.class);

    /** Runs a task for each number, on one thread or more, and waits for all. */
    @FunctionalInterface
    public interface ForEach {
        /** @param workers one for each available thread */
        void run(List<Integer> numbers, List<IntConsumer> workers);
    }

    private final CheckpointStore store;
    private final Origin origin;
    private final Segments segments;
    private final Replicas replicas;
    private final CheckpointRegistry book;
    private final EntryCheck check;
    private final boolean[] covered;
    /** Checkpoints that are newer than the area. */
    private final List<String> newer = new ArrayList<>();

    private boolean loaded;
    private long items;

    public CheckpointLoader(
            CheckpointStore store, Origin origin, Segments segments, Replicas replicas, CheckpointRegistry book) {
        this.store = store;
        this.origin = origin;
        this.segments = segments;
        this.replicas = replicas;
        this.book = book;
        this.check = new EntryCheck(segments.region());
        this.covered = new boolean[segments.count()];
    }

    /** Whether the server starts from a checkpoint. */
    public boolean isLoaded() {
        return loaded;
    }

    /** Objects that need not be found in the log. */
    public long items() {
        return items;
    }

    /** Whether the segment need not be read. */
    public boolean isCovered(int segment) {
        return loaded && covered[segment];
    }

    /** Removes all checkpoints, as far as possible: none are taken any more, so they would become stale. */
    public static void removeAll(CheckpointStore store) {
        try {
            final List<String> unused = remove(store, store.names());
        } catch (IOException e) {
            LOG.warn("ROWAN-2010 old checkpoints cannot be listed, and stay: {}", e.toString());
        }
    }

    /** Returns those that cannot be removed. */
    private static List<String> remove(CheckpointStore store, List<String> names) {
        final List<String> left = new ArrayList<>();
        IOException why = null;
        for (String name : names) {
            try {
                store.delete(List.of(name));
            } catch (IOException e) {
                left.add(name);
                why = e;
            }
        }
        if (why != null) {
            LOG.warn("ROWAN-2011 old checkpoint files {} cannot be removed, and stay unused: {}", left, why.toString());
        }
        return left;
    }

    /** Loads the newest usable checkpoint. */
    public void load(int threads, ForEach forEach) {
        try {
            final List<Checkpoint> usable = new ArrayList<>();
            for (String name : store.names()) {
                if (name.startsWith(Checkpoint.PREFIX)) {
                    final Checkpoint found = read(name);
                    if (found != null) {
                        usable.add(found);
                    }
                }
            }
            usable.sort(Comparator.comparingLong(Checkpoint::number).reversed());
            for (int i = 0; i < usable.size() && !loaded; i++) {
                loaded = tryLoad(usable.get(i), i + 1 < usable.size() ? usable.get(i + 1) : null, threads, forEach);
            }
            final List<String> old = new ArrayList<>(store.names());
            old.removeAll(book.filesInForce());
            final List<String> left = remove(store, old);
            left.retainAll(newer);
            if (!left.isEmpty()) {
                throw new StoreOpenException("the checkpoints " + left + " of server " + origin.serverId()
                        + " are newer than its area, and cannot be removed: remove them by hand, otherwise a later start would"
                        + " trust them");
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the checkpoints of server " + origin.serverId() + " cannot be listed", e);
        }
    }

    private @Nullable Checkpoint read(String name) {
        final ByteBuffer bytes;
        try {
            bytes = CheckpointReader.readAll(store, name);
        } catch (IOException e) {
            return refuse(name, "it cannot be read: " + e);
        }
        final String invalid = CheckpointDescriptor.whyInvalid(bytes);
        if (invalid != null) {
            return refuse(name, invalid);
        }
        final Checkpoint checkpoint = CheckpointDescriptor.decode(bytes);
        if (checkpoint.origin().equals(origin) && isNewer(checkpoint)) {
            newer.add(name);
        }
        final String reason = whyUnfit(checkpoint);
        return reason == null ? checkpoint : refuse(name, reason);
    }

    private @Nullable Checkpoint refuse(String name, String reason) {
        LOG.warn(
                "ROWAN-2012 server {} does not use the checkpoint {}: {}. It starts from an older one or reads its"
                        + " whole log; nothing is lost",
                origin.serverId(),
                name,
                reason);
        return null;
    }

    /** The reason why an intact checkpoint does not fit this area as it is, or null. */
    private @Nullable String whyUnfit(Checkpoint checkpoint) {
        final Superblock superblock = segments.area().superblock();
        if (!checkpoint.origin().equals(origin)) {
            return "it is of another area (" + checkpoint.origin() + ", this is " + origin + ")";
        }
        if (isNewer(checkpoint)) {
            final long highest = segments.area().segments().highestSequence();
            return "it is newer than the area (incarnation " + checkpoint.incarnation() + ", segment sequence "
                    + checkpoint.lastSequence() + "; the area has " + superblock.incarnation() + " and "
                    + highest + ")";
        }
        if (segments.area().durability() != Durability.POWER && !superblock.isWhole()) {
            return "the operating system may not have written all of the area that it refers to";
        }
        int held = 0;
        for (ShardPart part : checkpoint.shards()) {
            if (!replicas.has(part.shard())) {
                return "it names shard " + part.shard() + ", which this server does not hold";
            }
            if (part.tenure() != replicas.get(part.shard()).tenure()) {
                return "its shard " + part.shard() + " is of another tenure";
            }
            held++;
        }
        for (int shard = 0; shard < replicas.shardCount(); shard++) {
            held -= replicas.has(shard) ? 1 : 0;
        }
        return held == 0 ? null : "it lacks shards that this server holds";
    }

    private boolean isNewer(Checkpoint checkpoint) {
        return checkpoint.incarnation() > segments.area().superblock().incarnation()
                || checkpoint.lastSequence() > segments.area().segments().highestSequence();
    }

    private boolean tryLoad(Checkpoint checkpoint, @Nullable Checkpoint fallback, int threads, ForEach forEach) {
        cover(checkpoint);
        final List<ShardPart> parts = checkpoint.shards();
        final CheckpointBound[] bounds = new CheckpointBound[parts.size()];
        final List<ImageReader> readers = new ArrayList<>();
        final List<IntConsumer> workers = new ArrayList<>();
        final List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            numbers.add(i);
        }
        for (int i = 0; i < Math.max(1, Math.min(threads, parts.size())); i++) {
            final ImageReader reader = new ImageReader(segments, covered);
            readers.add(reader);
            workers.add(n -> bounds[n] = loadImage(reader, checkpoint, parts.get(n)));
        }
        try {
            requireSoundSessions(checkpoint);
            forEach.run(numbers, workers);
        } catch (UnusableImageException e) {
            refuse(Checkpoint.fileOf(checkpoint.number()), String.valueOf(e.getMessage()));
            parts.forEach(part -> replicas.get(part.shard()).beginLoad(0));
            return false;
        }
        takeOver(checkpoint, fallback, bounds, readers);
        Chaos.point("start.from-checkpoint");
        return true;
    }

    /**
     * Covers the segments that every image reflects: closed before the oldest image was written, and still in the same
     * use.
     */
    private void cover(Checkpoint checkpoint) {
        final long oldest = checkpoint.shards().stream()
                .mapToLong(ShardPart::imageRound)
                .min()
                .orElse(0);
        Arrays.fill(covered, false);
        for (CoveredSegment line : checkpoint.segments()) {
            final int s = line.segment();
            covered[s] = line.since() <= oldest
                    && segments.state(s) == SegmentState.COMMITTED
                    && segments.generation(s) == line.generation();
        }
    }

    private static final class UnusableImageException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnusableImageException(IOException cause) {
            super(String.valueOf(cause.getMessage()), cause);
        }
    }

    private CheckpointBound loadImage(ImageReader reader, Checkpoint checkpoint, ShardPart part) {
        final CheckpointBound bound = new CheckpointBound(part.itemsUpTo(), part.commitVersion());
        try {
            reader.load(store, checkpoint.origin().areaId(), part, replicas.get(part.shard()), bound);
        } catch (IOException e) {
            throw new UnusableImageException(e);
        }
        return bound;
    }

    private void takeOver(
            Checkpoint checkpoint, @Nullable Checkpoint fallback, CheckpointBound[] bounds, List<ImageReader> readers) {
        final int[] kept = new int[covered.length];
        final long[] changes = new long[replicas.shardCount()];
        for (int i = 0; i < bounds.length; i++) {
            final ShardPart part = checkpoint.shards().get(i);
            final ShardReplica replica = replicas.get(part.shard());
            final List<SessionImage> sessions = new ArrayList<>();
            for (SessionImage session : part.sessions()) {
                bounds[i].open(session.sessionId());
                sessions.add(restored(session, replica, kept));
            }
            replica.clears().retire(part.destroyed());
            replica.restore(bounds[i], part.commitVersion(), part.clears(), sessions);
            // Only an image whose items were all loaded unchanged matches the index. If an item was skipped, or named
            // to be found again, a later start would trust its address, which may hold another entry by then.
            changes[part.shard()] =
                    replica.index().count() == part.items() ? replica.index().changes() : CheckpointRegistry.CHANGED;
            items += replica.index().count();
        }
        for (CoveredSegment line : checkpoint.segments()) {
            final int s = line.segment();
            if (covered[s]) {
                int live = kept[s];
                for (ImageReader reader : readers) {
                    live += reader.liveBytes(s);
                }
                segments.restore(
                        s, line.entryBytes(), line.tombstoneBytes(), line.entryBytes() - line.tombstoneBytes() - live);
            }
        }
        book.continueFrom(checkpoint, fallback, checkpoint.number(), replicas, changes);
    }

    private boolean isReflected(long address) {
        return address != 0 && covered[segments.segmentOf(address)];
    }

    /** Entries that sessions refer to are not read with the log. Damage there is left to a scan of the whole log. */
    private void requireSoundSessions(Checkpoint checkpoint) {
        for (ShardPart part : checkpoint.shards()) {
            for (SessionImage session : part.sessions()) {
                requireSound(session.openAddress());
                session.answers().forEach(answer -> requireSound(answer.address()));
            }
        }
    }

    private void requireSound(long address) {
        if (!isReflected(address)) {
            return;
        }
        final int segment = segments.segmentOf(address);
        final String why = check.whyInvalid(
                address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment));
        if (why != null) {
            throw new UnusableImageException(new IOException(
                    "the entry at " + address + ", to which one of its sessions refers, is damaged: " + why));
        }
    }

    /** An entry in a segment that must be read is found there, or in a copy elsewhere. */
    private SessionImage restored(SessionImage session, ShardReplica replica, int[] kept) {
        final List<SessionImage.Answer> answers = new ArrayList<>();
        for (SessionImage.Answer answer : session.answers()) {
            if (isReflected(answer.address())) {
                final int keptLength = keptLength(replica, answer.address());
                if (keptLength > 0) {
                    kept[segments.segmentOf(answer.address())] += segments.charge(keptLength);
                    segments.markKept(answer.address());
                }
                answers.add(new SessionImage.Answer(
                        answer.sequence(),
                        answer.version(),
                        answer.previousVersion(),
                        answer.bits(),
                        answer.address(),
                        keptLength));
            }
        }
        long opening = 0;
        if (isReflected(session.openAddress())) {
            opening = session.openAddress();
            kept[segments.segmentOf(opening)] += segments.charge(lengthAt(opening));
        }
        return new SessionImage(session.sessionId(), opening, session.firstUnanswered(), answers);
    }

    private int lengthAt(long address) {
        return FrameDescriptor.length(wordAt(address));
    }

    private long wordAt(long address) {
        return FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address));
    }

    /** Not from the sessions' image: the image of the index was made before it or after it. */
    private int keptLength(ShardReplica replica, long address) {
        final long word = wordAt(address);
        final int type = FrameDescriptor.type(word);
        return EntryType.isTombstone(type) || EntryType.holdsObject(type) && isIndexed(replica, address)
                ? 0
                : FrameDescriptor.length(word);
    }

    private boolean isIndexed(ShardReplica replica, long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final byte[] key = new byte[EntryDescriptor.keyLength(entry, at)];
        return replica.index().refers(replica.positionOf(entry, at, key), address);
    }
}
