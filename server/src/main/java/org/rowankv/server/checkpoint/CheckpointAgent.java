package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;
import org.rowankv.server.checkpoint.CheckpointRegistry.Image;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Clears;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * Takes the checkpoints of one server, in rounds. A round first records the closed and committed segments, and waits
 * until everything in them is on all replicas and has taken effect here. Then it rewrites the images of some changed
 * indexes, oldest images first, and at last the file that names them all. Until that file is committed, the previous
 * round counts.
 *
 * <p>Has its own thread, since it writes files. Takes an index's lock for a bucket at a time, and idles longer than it
 * works.
 */
public final class CheckpointAgent implements Agent {
    private static final int BUCKETS_PER_TURN = 256;
    /** Idle time as a multiple of the work time. */
    private static final int REST = 4;
    /** A round writes one in this many of the changed indexes' objects, or all when they are few. */
    private static final int SHARE = 4;

    /** The threshold for few, at the smallest segment length; its square with longer segments. */
    private static final long FEW = 4;

    private enum State {
        RESTING,
        SETTLING,
        IMAGING
    }

    private final CheckpointRegistry book;
    private final CheckpointStore store;
    private final Origin origin;
    private final Segments segments;
    private final Replicas replicas;
    private final IntToLongFunction lastVersion;
    private final Clock clock;
    private final ErrorLog errors;
    private final long intervalNs;
    private final ImageWriter writer;
    private final OwnedCounter taken = new OwnedCounter();

    private State state = State.RESTING;
    private long nextNs;
    private long seenChanges = -1;
    private long seenSequence = -1;
    /** By shard: the replicas that the round and the images are of. */
    private final @Nullable ShardReplica[] held;

    private final long[] awaited;
    private final long[] settled;
    private final List<List<Clears.Clear>> clears = new ArrayList<>();
    /** By shard: of these, those that an image of this round may need. */
    private final List<List<Clears.Clear>> unreflected = new ArrayList<>();

    private final List<BitSet> destroyed = new ArrayList<>();
    private final @Nullable ShardPart[] parts;
    private final List<ShardReplica> toWrite = new ArrayList<>();
    private int writing;
    private long changesAtBegin;
    private long imageChanges;
    private boolean everything;
    /** Whether the last round left changed images for the next one. */
    private boolean isPartial;

    /**
     * @param lastVersion the last version assigned, of a shard whose primary the server is, else 0
     * @param intervalNs from the end of a round to the beginning of the next
     */
    public CheckpointAgent(
            CheckpointRegistry book,
            CheckpointStore store,
            Origin origin,
            Segments segments,
            Replicas replicas,
            IntToLongFunction lastVersion,
            Clock clock,
            ErrorLog errors,
            long intervalNs) {
        this.book = book;
        this.store = store;
        this.origin = origin;
        this.segments = segments;
        this.replicas = replicas;
        this.lastVersion = lastVersion;
        this.clock = clock;
        this.errors = errors;
        this.intervalNs = intervalNs;
        this.writer = new ImageWriter(store, segments);
        this.held = new @Nullable ShardReplica[replicas.shardCount()];
        for (ShardReplica replica : replicas.all()) {
            held[replica.shardId()] = replica; // the loaded images are of these
        }
        this.awaited = new long[replicas.shardCount()];
        this.settled = new long[replicas.shardCount()];
        this.parts = new @Nullable ShardPart[replicas.shardCount()];
        this.nextNs = clock.nanoTime() + intervalNs;
    }

    @Override
    public String roleName() {
        return "checkpoint-" + origin.serverId();
    }

    /** Checkpoints taken. */
    public long taken() {
        return taken.get();
    }

    @Override
    public int doWork() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextNs < 0) {
            return 0;
        }
        try {
            final int work = step();
            if (state == State.IMAGING) {
                nextNs = nowNs + REST * (clock.nanoTime() - nowNs);
            }
            return work;
        } catch (IOException e) {
            // Most likely a full disk. The previous checkpoint stays in force; the next round retries.
            errors.reportExpected("the checkpoint of server " + origin.serverId(), e);
            giveUp();
            return 0;
        }
    }

    private int step() throws IOException {
        final boolean sameReplicas = takeUpReplicas();
        if (!sameReplicas && state != State.RESTING) {
            giveUp();
            return 1;
        }
        switch (state) {
            case RESTING -> {
                if (!hasChanged()) {
                    nextNs = clock.nanoTime() + intervalNs;
                    return 0;
                }
                begin();
                return 1;
            }
            case SETTLING -> {
                if (!isSettled()) {
                    return 0;
                }
                choose();
                return 1;
            }
            case IMAGING -> {
                image();
                return 1;
            }
        }
        throw new AssertionError(state);
    }

    /** Whether the server holds the same replicas as before. The images of others are not continued. */
    private boolean takeUpReplicas() {
        boolean areTheSame = true;
        for (int shard = 0; shard < held.length; shard++) {
            final ShardReplica now = replicas.find(shard);
            if (!Objects.equals(now, held[shard])) {
                held[shard] = now;
                parts[shard] = null;
                book.drop(shard);
                seenChanges = -1;
                areTheSame = false;
            }
        }
        return areTheSame;
    }

    /**
     * Takes a final checkpoint, of everything, on the calling thread, after the agent was closed and the server is
     * quiescent. A no-op when nothing has changed since the last one, or when something is not settled.
     */
    public void takeLast() {
        try {
            giveUp();
            takeUpReplicas();
            if (!hasChanged()) {
                return;
            }
            begin();
            if (isSettled()) {
                everything = true;
                choose();
                while (state == State.IMAGING) {
                    image();
                }
            }
        } catch (IOException e) {
            errors.reportExpected("the last checkpoint of server " + origin.serverId(), e);
        } finally {
            giveUp();
        }
    }

    /**
     * Whether a final checkpoint need not wait: none is due, or everything assigned or assembled so far is settled.
     * After the agent was closed.
     */
    public boolean couldSettle() {
        if (!hasChanged()) {
            return true;
        }
        for (ShardReplica replica : replicas.all()) {
            if (replica.versions().settled() < highest(replica)) {
                return false;
            }
        }
        return true;
    }

    private long changes() {
        long sum = 0;
        for (ShardReplica replica : replicas.all()) {
            sum += replica.index().changes();
        }
        return sum;
    }

    /** Not while a replica is catching up: entries copied to it later are older than the checkpoint would claim. */
    private boolean hasChanged() {
        return !replicas.isJoining()
                && (isPartial || changes() != seenChanges || segments.lastSequence() != seenSequence);
    }

    private long highest(ShardReplica replica) {
        return Math.max(
                lastVersion.applyAsLong(replica.shardId()), replica.versions().assembled());
    }

    private void begin() {
        changesAtBegin = changes();
        seenSequence = segments.lastSequence();
        book.coverSegments();
        clears.clear();
        destroyed.clear();
        // After the segments: so nothing in them has a larger version.
        for (int shard = 0; shard < awaited.length; shard++) {
            List<Clears.Clear> ofShard = List.of();
            BitSet ids = new BitSet();
            final ShardReplica replica = held[shard];
            if (replica != null) {
                ids = replica.clears().destroyedIds(); // first: so the round awaits the clears that have destroyed them
                ofShard = replica.clears().forCheckpoint();
                awaited[shard] = highest(replica);
                for (Clears.Clear clear : ofShard) {
                    awaited[shard] = Math.max(awaited[shard], clear.version());
                }
            }
            destroyed.add(ids);
            clears.add(ofShard);
        }
        everything = false;
        state = State.SETTLING;
        Chaos.point("checkpoint.begun");
    }

    private boolean isSettled() {
        for (int shard = 0; shard < awaited.length; shard++) {
            final ShardReplica replica = held[shard];
            if (replica != null) {
                settled[shard] = replica.versions().settled();
                if (settled[shard] < awaited[shard]) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Reads the sessions, and selects the images to rewrite. */
    private void choose() throws IOException {
        toWrite.clear();
        unreflected.clear();
        long changed = 0;
        for (int shard = 0; shard < awaited.length; shard++) {
            final ShardReplica replica = held[shard];
            if (replica == null) {
                unreflected.add(List.of());
                continue;
            }
            // Before the index is looked at: what a sweep removes from now on may be in an image of this round.
            unreflected.add(replica.clears().notRemoved(clears.get(shard)));
            final Image image = book.image(shard);
            if (image != null && image.changes() == replica.index().changes()) {
                book.image(shard, image.asOf(book.number(), settled[shard]));
            } else {
                toWrite.add(replica);
                changed += replica.index().count();
            }
            parts[shard] = new ShardPart(
                    shard,
                    replica.tenure(),
                    0,
                    0,
                    0,
                    0,
                    0,
                    settled[shard],
                    clears.get(shard),
                    destroyed.get(shard),
                    replica.sessions().images());
        }
        limit(everything ? Long.MAX_VALUE : Math.max(few(), changed / SHARE));
        writing = 0;
        state = State.IMAGING;
        Chaos.point("checkpoint.chosen");
        beginImage();
    }

    private long few() {
        final long times = segments.length() / AreaSettings.MIN_SEGMENT_LENGTH;
        return FEW * times * times;
    }

    /** Drops the most recently written images; those never written must stay. */
    private void limit(long most) {
        toWrite.sort(Comparator.comparingLong(replica -> {
            final Image image = book.image(replica.shardId());
            return image == null ? 0 : image.round();
        }));
        isPartial = false;
        long sum = 0;
        for (int i = 0; i < toWrite.size(); i++) {
            if (sum > most && book.image(toWrite.get(i).shardId()) != null) {
                toWrite.subList(i, toWrite.size()).clear();
                isPartial = true;
                return;
            }
            sum += toWrite.get(i).index().count();
        }
    }

    private void beginImage() throws IOException {
        if (writing == toWrite.size()) {
            publish();
            return;
        }
        final ShardReplica replica = toWrite.get(writing);
        // First: later changes may be in the image or not.
        imageChanges = replica.index().changes();
        writer.begin(replica, book.number());
    }

    private void image() throws IOException {
        Chaos.point("checkpoint.image");
        if (!writer.advance(BUCKETS_PER_TURN)) {
            return;
        }
        final int shard = toWrite.get(writing).shardId();
        book.image(
                shard,
                new Image(book.number(), writer.length(), writer.items(), book.number(), settled[shard], imageChanges));
        writing++;
        beginImage();
    }

    private void publish() throws IOException {
        makeDurable();
        final List<ShardPart> named = new ArrayList<>();
        for (ShardPart part : parts) {
            if (part != null) {
                named.add(withImage(part));
            }
        }
        final Checkpoint checkpoint = new Checkpoint(
                book.number(),
                origin,
                segments.area().superblock().incarnation(),
                clock.wallMs(),
                seenSequence,
                book.coveredSegments(),
                named);
        Chaos.point("checkpoint.before-publish");
        try (CheckpointStore.Writing file = store.write(Checkpoint.fileOf(checkpoint.number()))) {
            file.write(CheckpointDescriptor.encode(checkpoint));
            file.commit();
        }
        Chaos.point("checkpoint.published");
        book.published(checkpoint);
        named.forEach(this::forgetClears);
        seenChanges = changesAtBegin;
        taken.add(1);
        state = State.RESTING;
        nextNs = clock.nanoTime() + intervalNs;
        final List<String> old = new ArrayList<>(store.names());
        old.removeAll(book.filesInForce());
        store.delete(old);
    }

    /** A later checkpoint has that image or a newer one. */
    private void forgetClears(ShardPart part) {
        final ShardReplica replica = held[part.shard()];
        if (replica != null) {
            final List<Clears.Clear> reflected = new ArrayList<>(clears.get(part.shard()));
            reflected.removeAll(part.clears());
            replica.clears().reflected(reflected);
        }
    }

    private ShardPart withImage(ShardPart part) {
        final Image image = book.image(part.shard());
        if (image == null) {
            throw new AssertionError("shard " + part.shard() + " has no image");
        }
        final boolean isOfThisRound = image.round() == book.number();
        return new ShardPart(
                part.shard(),
                part.tenure(),
                image.number(),
                image.length(),
                image.items(),
                image.round(),
                image.itemsUpTo(),
                part.commitVersion(),
                isOfThisRound ? unreflected.get(part.shard()) : part.clears(),
                part.destroyed(),
                part.sessions());
    }

    /**
     * An index may point to an entry that only this server has yet, instead of one that all have. Before an image
     * counts, everything it may reflect is made durable, at the level in force.
     */
    private void makeDurable() throws IOException {
        for (int s = 0; s < segments.count(); s++) {
            if (segments.generation(s) != 0 && !book.isCovered(s)) {
                segments.area().flush(segments.area().addressOf(s), segments.length());
            }
        }
        try {
            segments.area().drain();
        } catch (ForceFailedException e) {
            throw new IOException("the entries that it would refer to are not on the device", e);
        }
    }

    private void giveUp() {
        if (state != State.RESTING) {
            state = State.RESTING;
            nextNs = clock.nanoTime() + intervalNs;
            book.abandon();
        }
        try {
            writer.drop();
        } catch (IOException e) {
            errors.reportExpected("abandoning a checkpoint of server " + origin.serverId(), e);
        }
    }

    @Override
    public void onClose() {
        giveUp();
    }
}
