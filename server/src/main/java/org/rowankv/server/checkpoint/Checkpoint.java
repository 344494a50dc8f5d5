package org.rowankv.server.checkpoint;

import java.util.List;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.Clears;

/**
 * What the file of a checkpoint says, apart from the images of the indexes, which are files of their own.
 *
 * @param number of the round in which it was taken; rises
 * @param origin whose it is
 * @param incarnation of the server that wrote it
 * @param takenMs wall-clock milliseconds
 * @param lastSequence of the segment that was opened last
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
    /** In front of the two files, written in turn. */
    static final String PREFIX = "checkpoint-";

    public Checkpoint {
        segments = List.copyOf(segments);
        shards = List.copyOf(shards);
    }

    /** The file that a checkpoint of that number is written to. */
    static String fileOf(long number) {
        return PREFIX + ((number & 1) == 0 ? "a" : "b");
    }

    /** Whose checkpoint it is: any other's is of no use. */
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
     * A segment to which nothing is added any more.
     *
     * @param entryBytes what its entries are charged together
     * @param tombstoneBytes among them
     * @param since number of the first round that found it so: images of that round and later ones reflect its entries
     */
    public record CoveredSegment(int segment, int generation, int entryBytes, int tombstoneBytes, long since) {}

    /**
     * One shard.
     *
     * @param tenure of the replica
     * @param imageNumber in the name of the file of its index's image
     * @param imageLength of that file, in bytes
     * @param items in the image
     * @param imageRound the last round at whose beginning the index was as the image shows it, or older
     * @param itemsUpTo every keyed entry up to this version is reflected in the image
     * @param commitVersion when the checkpoint was taken: sessions and clears reflect everything up to it
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
            List<SessionImage> sessions) {
        public ShardPart {
            clears = List.copyOf(clears);
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
