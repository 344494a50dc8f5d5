package org.rowankv.server.checkpoint;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.checkpoint.Checkpoint.CoveredSegment;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;

/**
 * The state of one server's checkpoints between rounds: the segments they cover, and each shard's last image. Used by
 * one thread at a time.
 */
public final class CheckpointRegistry {
    /** The image of a shard's index. */
    record Image(long number, long length, long items, long round, long itemsUpTo, long changes) {
        /** The index has not changed since: the image is current. */
        Image asOf(long newRound, long newItemsUpTo) {
            return new Image(number, length, items, newRound, newItemsUpTo, changes);
        }
    }

    /** The mark of an image whose index has changed. */
    static final long CHANGED = -1;

    private final Segments segments;
    private final int[] generations;
    private final int[] entryBytes;
    private final int[] tombstoneBytes;
    /** By segment: the first round that found it closed and committed, in this use; 0 for none. */
    private final long[] since;

    private final @Nullable Image[] images;
    private long number = 1;
    private @Nullable Checkpoint newest;
    private @Nullable Checkpoint older;

    public CheckpointRegistry(Segments segments, Replicas replicas) {
        this.segments = segments;
        this.generations = new int[segments.count()];
        this.entryBytes = new int[segments.count()];
        this.tombstoneBytes = new int[segments.count()];
        this.since = new long[segments.count()];
        this.images = new @Nullable Image[replicas.shardCount()];
    }

    /** Continues from a checkpoint that a start has loaded. */
    void continueFrom(
            Checkpoint loaded, @Nullable Checkpoint fallback, long highestNumber, Replicas replicas, long[] changes) {
        number = highestNumber + 1;
        newest = loaded;
        older = fallback;
        for (CoveredSegment line : loaded.segments()) {
            generations[line.segment()] = line.generation();
            entryBytes[line.segment()] = line.entryBytes();
            tombstoneBytes[line.segment()] = line.tombstoneBytes();
            since[line.segment()] = line.since();
        }
        for (ShardPart part : loaded.shards()) {
            if (replicas.has(part.shard())) {
                images[part.shard()] = new Image(
                        part.imageNumber(),
                        part.imageLength(),
                        part.items(),
                        part.imageRound(),
                        part.itemsUpTo(),
                        changes[part.shard()]);
            }
        }
    }

    /** The number of the present round, or of the next. */
    long number() {
        return number;
    }

    /** Records the closed and committed segments: they receive nothing more. */
    void coverSegments() {
        for (int s = 0; s < since.length; s++) {
            final int generation = segments.generation(s);
            final boolean ended =
                    generation != 0 && segments.state(s) == SegmentState.COMMITTED && segments.isClosed(s);
            final int entries = segments.entryBytes(s);
            final int tombstones = segments.tombstoneBytes(s);
            // If it was freed meanwhile, it lost its generation first.
            if (!ended || segments.generation(s) != generation) {
                since[s] = 0;
            } else if (since[s] == 0 || generations[s] != generation) {
                generations[s] = generation;
                entryBytes[s] = entries;
                tombstoneBytes[s] = tombstones;
                since[s] = number;
            }
        }
    }

    boolean isCovered(int segment) {
        return since[segment] != 0;
    }

    List<CoveredSegment> coveredSegments() {
        final List<CoveredSegment> covered = new ArrayList<>();
        for (int s = 0; s < since.length; s++) {
            if (since[s] != 0) {
                covered.add(new CoveredSegment(s, generations[s], entryBytes[s], tombstoneBytes[s], since[s]));
            }
        }
        return covered;
    }

    @Nullable
    Image image(int shard) {
        return images[shard];
    }

    void image(int shard, Image image) {
        images[shard] = image;
    }

    /** Another replica of the shard has no image yet. */
    void drop(int shard) {
        images[shard] = null;
    }

    /**
     * Abandons the present round. Its number is not reused: its segments or images may be older than those of a later
     * round. The next number names the same of the two files, so that the newest checkpoint stays.
     */
    void abandon() {
        number += 2;
    }

    /** The checkpoint of the present round is in force. */
    void published(Checkpoint checkpoint) {
        older = newest;
        newest = checkpoint;
        number++;
    }

    /** The files of the last two checkpoints. */
    Set<String> filesInForce() {
        final Set<String> names = new HashSet<>();
        addFiles(names, newest);
        addFiles(names, older);
        return names;
    }

    private static void addFiles(Set<String> names, @Nullable Checkpoint checkpoint) {
        if (checkpoint != null) {
            names.add(Checkpoint.fileOf(checkpoint.number()));
            checkpoint.shards().forEach(part -> names.add(part.imageFile()));
        }
    }
}
