package org.rowankv.server.area;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.durability.Durability;

/**
 * Layout of one copy of the superblock, little endian, in a page of its own.
 *
 * <pre>
 *    0  magic "ROWANAR1"                        8
 *    8  format version                          4
 *   12  checksum, CRC32C of 16 .. LENGTH        4
 *   16  sequence of this copy                   8
 *   24  cluster id                              8
 *   32  area id, drawn when it was created      8
 *   40  incarnation                             8
 *   48  highest term adopted                    8
 *   56  boot id of the operating system        16
 *   72  file identity (inode), 0 = unknown      8
 *   80  server id                               4
 *   84  segment length                          4
 *   88  segment count                           4
 *   92  shard count                             4
 *   96  server count                            4
 *  100  replica count                           4
 *  104  clean-shutdown mark, 0 or CLEAN         4
 *  108  level mark, POWER or 0 for a lower one   4
 *  112  mark of what is lacking, 0 or INCOMPLETE 4
 *  116  mark of torn entries, 0 or TORN          4
 *  120  zero                                    8
 *  128
 * </pre>
 *
 * <p>Between threads: one writer, in {@link Superblock}, which alone reads the bytes. Across a crash: the two copies
 * are written in turn, each flushed and drained before the other is touched, and the valid one with the higher
 * sequence counts. So at least one copy is always whole, and a copy of which a crash kept only a part is refused by
 * its checksum.
 */
public final class SuperblockDescriptor {
    static final long MAGIC = 0x3152414e41574f52L; // "ROWANAR1" in memory order
    public static final int FORMAT_VERSION = 4;
    static final int CLEAN = 0x41454c43; // "CLEA" in memory order
    static final int POWER = 0x52574f50; // "POWR" in memory order
    static final int INCOMPLETE = 0x4f434e49; // "INCO" in memory order
    static final int TORN = 0x4e524f54; // "TORN" in memory order

    static final int MAGIC_OFFSET = 0;
    static final int FORMAT_VERSION_OFFSET = MAGIC_OFFSET + Long.BYTES;
    static final int CHECKSUM_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    static final int SEQUENCE_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;
    static final int CLUSTER_ID_OFFSET = SEQUENCE_OFFSET + Long.BYTES;
    static final int AREA_ID_OFFSET = CLUSTER_ID_OFFSET + Long.BYTES;
    static final int INCARNATION_OFFSET = AREA_ID_OFFSET + Long.BYTES;
    static final int TERM_OFFSET = INCARNATION_OFFSET + Long.BYTES;
    static final int BOOT_ID_OFFSET = TERM_OFFSET + Long.BYTES;
    static final int FILE_IDENTITY_OFFSET = BOOT_ID_OFFSET + 2 * Long.BYTES;
    static final int SERVER_ID_OFFSET = FILE_IDENTITY_OFFSET + Long.BYTES;
    static final int SEGMENT_LENGTH_OFFSET = SERVER_ID_OFFSET + Integer.BYTES;
    static final int SEGMENT_COUNT_OFFSET = SEGMENT_LENGTH_OFFSET + Integer.BYTES;
    static final int SHARD_COUNT_OFFSET = SEGMENT_COUNT_OFFSET + Integer.BYTES;
    static final int SERVER_COUNT_OFFSET = SHARD_COUNT_OFFSET + Integer.BYTES;
    static final int REPLICA_COUNT_OFFSET = SERVER_COUNT_OFFSET + Integer.BYTES;
    static final int CLEAN_OFFSET = REPLICA_COUNT_OFFSET + Integer.BYTES;
    static final int POWER_OFFSET = CLEAN_OFFSET + Integer.BYTES;
    public static final int INCOMPLETE_OFFSET = POWER_OFFSET + Integer.BYTES;
    static final int TORN_OFFSET = INCOMPLETE_OFFSET + Integer.BYTES;
    static final int RESERVED_OFFSET = TORN_OFFSET + Integer.BYTES;
    static final int LENGTH = 128;

    /**
     * The content of a superblock.
     *
     * @param sequence of the copy; the copy with the higher one counts
     * @param power whether it was written at {@link Durability#POWER} since its present use began
     * @param incomplete whether the replicas in the area lack an entry that their senders count as replicated
     * @param torn whether a start that found it possibly torn has not ended cleanly since
     */
    public record Content(
            long sequence,
            long clusterId,
            long areaId,
            long incarnation,
            long term,
            BootId bootId,
            long fileIdentity,
            int serverId,
            int segmentLength,
            int segmentCount,
            int shardCount,
            int serverCount,
            int replicaCount,
            boolean clean,
            boolean power,
            boolean incomplete,
            boolean torn) {

        /** The content of the next copy. A clean close has made torn entries void; missing ones stay missing. */
        public Content next(
                long newIncarnation,
                long newTerm,
                BootId newBootId,
                long newFileIdentity,
                boolean newClean,
                boolean newPower) {
            return new Content(
                    sequence + 1,
                    clusterId,
                    areaId,
                    newIncarnation,
                    newTerm,
                    newBootId,
                    newFileIdentity,
                    serverId,
                    segmentLength,
                    segmentCount,
                    shardCount,
                    serverCount,
                    replicaCount,
                    newClean,
                    newPower,
                    incomplete,
                    torn && !newClean);
        }

        Content withMarks(boolean newIncomplete, boolean newTorn) {
            return new Content(
                    sequence,
                    clusterId,
                    areaId,
                    incarnation,
                    term,
                    bootId,
                    fileIdentity,
                    serverId,
                    segmentLength,
                    segmentCount,
                    shardCount,
                    serverCount,
                    replicaCount,
                    clean,
                    power,
                    newIncomplete,
                    newTorn);
        }
    }

    private SuperblockDescriptor() {}

    /** The offset of the copy for a sequence. */
    public static int offsetOf(long sequence) {
        return (sequence & 1) == 0 ? AreaDescriptor.SUPERBLOCK_A_OFFSET : AreaDescriptor.SUPERBLOCK_B_OFFSET;
    }

    static void write(ByteBuffer buffer, int offset, Content content) {
        assert buffer.order() == ByteOrder.LITTLE_ENDIAN;
        buffer.putLong(offset + MAGIC_OFFSET, MAGIC);
        buffer.putInt(offset + FORMAT_VERSION_OFFSET, FORMAT_VERSION);
        buffer.putLong(offset + SEQUENCE_OFFSET, content.sequence());
        buffer.putLong(offset + CLUSTER_ID_OFFSET, content.clusterId());
        buffer.putLong(offset + AREA_ID_OFFSET, content.areaId());
        buffer.putLong(offset + INCARNATION_OFFSET, content.incarnation());
        buffer.putLong(offset + TERM_OFFSET, content.term());
        buffer.putLong(offset + BOOT_ID_OFFSET, content.bootId().high());
        buffer.putLong(offset + BOOT_ID_OFFSET + Long.BYTES, content.bootId().low());
        buffer.putLong(offset + FILE_IDENTITY_OFFSET, content.fileIdentity());
        buffer.putInt(offset + SERVER_ID_OFFSET, content.serverId());
        buffer.putInt(offset + SEGMENT_LENGTH_OFFSET, content.segmentLength());
        buffer.putInt(offset + SEGMENT_COUNT_OFFSET, content.segmentCount());
        buffer.putInt(offset + SHARD_COUNT_OFFSET, content.shardCount());
        buffer.putInt(offset + SERVER_COUNT_OFFSET, content.serverCount());
        buffer.putInt(offset + REPLICA_COUNT_OFFSET, content.replicaCount());
        buffer.putInt(offset + CLEAN_OFFSET, content.clean() ? CLEAN : 0);
        buffer.putInt(offset + POWER_OFFSET, content.power() ? POWER : 0);
        buffer.putInt(offset + INCOMPLETE_OFFSET, content.incomplete() ? INCOMPLETE : 0);
        buffer.putInt(offset + TORN_OFFSET, content.torn() ? TORN : 0);
        for (int at = RESERVED_OFFSET; at < LENGTH; at += Integer.BYTES) {
            buffer.putInt(offset + at, 0);
        }
        buffer.putInt(offset + CHECKSUM_OFFSET, checksum(buffer, offset));
        assert whyInvalid(buffer, offset) == null;
    }

    /** Requires that {@link #whyInvalid} is null. */
    static Content read(ByteBuffer buffer, int offset) {
        return new Content(
                buffer.getLong(offset + SEQUENCE_OFFSET),
                buffer.getLong(offset + CLUSTER_ID_OFFSET),
                buffer.getLong(offset + AREA_ID_OFFSET),
                buffer.getLong(offset + INCARNATION_OFFSET),
                buffer.getLong(offset + TERM_OFFSET),
                new BootId(
                        buffer.getLong(offset + BOOT_ID_OFFSET), buffer.getLong(offset + BOOT_ID_OFFSET + Long.BYTES)),
                buffer.getLong(offset + FILE_IDENTITY_OFFSET),
                buffer.getInt(offset + SERVER_ID_OFFSET),
                buffer.getInt(offset + SEGMENT_LENGTH_OFFSET),
                buffer.getInt(offset + SEGMENT_COUNT_OFFSET),
                buffer.getInt(offset + SHARD_COUNT_OFFSET),
                buffer.getInt(offset + SERVER_COUNT_OFFSET),
                buffer.getInt(offset + REPLICA_COUNT_OFFSET),
                buffer.getInt(offset + CLEAN_OFFSET) == CLEAN,
                buffer.getInt(offset + POWER_OFFSET) == POWER,
                buffer.getInt(offset + INCOMPLETE_OFFSET) == INCOMPLETE,
                buffer.getInt(offset + TORN_OFFSET) == TORN);
    }

    /** Whether the copy is a superblock of any format version. */
    static boolean hasMagic(ByteBuffer buffer, int offset) {
        return buffer.getLong(offset + MAGIC_OFFSET) == MAGIC;
    }

    static int formatVersion(ByteBuffer buffer, int offset) {
        return buffer.getInt(offset + FORMAT_VERSION_OFFSET);
    }

    /** The reason why this copy is invalid, or null. */
    public static @Nullable String whyInvalid(ByteBuffer buffer, int offset) {
        if (!hasMagic(buffer, offset)) {
            return "no superblock";
        }
        if (formatVersion(buffer, offset) != FORMAT_VERSION) {
            return "format version " + formatVersion(buffer, offset) + ", not " + FORMAT_VERSION;
        }
        if (buffer.getInt(offset + CHECKSUM_OFFSET) != checksum(buffer, offset)) {
            return "checksum is wrong";
        }
        final int clean = buffer.getInt(offset + CLEAN_OFFSET);
        if (clean != 0 && clean != CLEAN) {
            return "unknown clean-shutdown mark " + clean;
        }
        final int power = buffer.getInt(offset + POWER_OFFSET);
        if (power != 0 && power != POWER) {
            return "unknown level mark " + power;
        }
        final int incomplete = buffer.getInt(offset + INCOMPLETE_OFFSET);
        if (incomplete != 0 && incomplete != INCOMPLETE) {
            return "unknown mark of what is lacking " + incomplete;
        }
        final int torn = buffer.getInt(offset + TORN_OFFSET);
        if (torn != 0 && torn != TORN) {
            return "unknown mark of torn entries " + torn;
        }
        for (int at = RESERVED_OFFSET; at < LENGTH; at += Integer.BYTES) {
            if (buffer.getInt(offset + at) != 0) {
                return "reserved bytes are not zero";
            }
        }
        return null;
    }

    private static int checksum(ByteBuffer buffer, int offset) {
        final CRC32C crc = new CRC32C();
        crc.update(buffer.duplicate().clear().position(offset + SEQUENCE_OFFSET).limit(offset + LENGTH));
        return (int) crc.getValue();
    }
}
