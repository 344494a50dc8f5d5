package org.rowankv.server.checkpoint;

import java.util.BitSet;
import java.util.List;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.Clears;

/**
 * The file of a checkpoint, apart from the images of the indexes, which are files of their own.
 *
 * @param number of its round; increases
 * @param origin the area it belongs to
 * @param incarnation of the server that wrote it
 * @param takenMs wall-clock milliseconds
 * @param lastSequence of the last segment opened
 * @param segments that some round found closed and committed
 * @param shards that the server holds
 */
public record Checkpoint(
        long number,
        Origin origin,
        long incarnation,
        long takenMs,
        long lastSequence,
        List<CoveredSegment> segments,
        List<ShardPart> shards) {
    /** Prefix of the two files, written alternately. */
    static final String PREFIX = "checkpoint-";

    public Checkpoint {
        segments = List.copyOf(segments);
        shards = List.copyOf(shards);
    }

    /** The file for a checkpoint of that number. */
    static String fileOf(long number) {
        return PREFIX + ((number & 1) == 0 ? "a" : "b");
    }

    /** The area that a checkpoint belongs to: one of another area is unusable. */
    public record Origin(
            long clusterId,
            long areaId,
            long fileIdentity,
            long hashSeed,
            int serverId,
            int shardCount,
            int segmentCount,
            int segmentLength) {}

    /**
     * A segment that receives nothing more.
     *
     * @param entryBytes charge of its entries
     * @param tombstoneBytes among them
     * @param since number of the first round that found it so: images of that round and later ones reflect its entries
     */
    public record CoveredSegment(int segment, int generation, int entryBytes, int tombstoneBytes, long since) {}

    /**
     * One shard.
     *
     * @param tenure of the replica
     * @param imageNumber in the file name of its index's image
     * @param imageLength of that file, in bytes
     * @param items in the image
     * @param imageRound the last round at whose beginning the index matched the image, or was older
     * @param itemsUpTo every keyed entry up to this version is reflected in the image
     * @param commitVersion when the checkpoint was taken: sessions and clears reflect everything up to it
     * @param clears up to then, without those that ended nothing that the image shows
     * @param destroyed ids of caches that are refused
     */
    public record ShardPart(
            int shard,
            int tenure,
            long imageNumber,
            long imageLength,
            long items,
            long imageRound,
            long itemsUpTo,
            long commitVersion,
            List<Clears.Clear> clears,
            BitSet destroyed,
            List<SessionImage> sessions) {
        public ShardPart {
            clears = List.copyOf(clears);
            destroyed = (BitSet) destroyed.clone();
            sessions = List.copyOf(sessions);
        }

        String imageFile() {
            return imageFile(shard, imageNumber);
        }

        static String imageFile(int shard, long number) {
            return "shard-" + shard + "-" + number + ".image";
        }
    }
}
