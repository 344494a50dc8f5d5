package org.rowankv.server.checkpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.checkpoint.Checkpoint.CoveredSegment;
import org.rowankv.server.checkpoint.Checkpoint.Origin;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.shard.Clears;

/**
 * Layout of the file of a checkpoint, little endian.
 *
 * <pre>
 *    0  magic "ROWANCP1"                        8
 *    8  format version                          4
 *   12  checksum, CRC32C of 16 .. end           4
 *   16  length of the file                      8
 *   24  number                                  8
 *   32  cluster id                              8
 *   40  area id                                 8
 *   48  file identity of the area               8
 *   56  hash seed                               8
 *   64  incarnation                             8
 *   72  taken at, wall-clock milliseconds       8
 *   80  server id                               4
 *   84  shard count                             4
 *   88  segment count                           4
 *   92  segment length                          4
 *   96  last sequence                           8
 *  104  segments that follow                    4
 *  108  shards that follow                      4
 *  112  segments: segment 4, generation 4, entry bytes 4, tombstone bytes 4, since 8
 *       shards:   shard 4, tenure 4, image number 8, image length 8, items 8, image round 8, items up to 8,
 *                 commit version 8, clears 4, sessions 4, then
 *                 clears:   cache 4, zero 4, version 8; and destroyed caches: first id 4, how many 4, zero 8
 *                 sessions: id 8, opening 8, first unanswered 8, answers 4, zero 4, then
 *                           answers: sequence 8, version 8, previous version 8, address 8, bits 4, kept length 4
 * </pre>
 */
final class CheckpointDescriptor {
    static final long MAGIC = 0x3150434e41574f52L; // "ROWANCP1" in memory order
    static final int FORMAT_VERSION = 3;
    /** Of the oldest files that are read. There one line is both: a clear, and whether its cache is destroyed. */
    static final int OLDEST_VERSION = 2;
    /** Maximum length of a checkpoint: a greater one is damage. */
    static final long MAX_LENGTH = 1L << 30;

    static final int FORMAT_VERSION_OFFSET = 8;
    static final int CHECKSUM_OFFSET = 12;
    static final int LENGTH_OFFSET = 16;
    static final int NUMBER_OFFSET = 24;
    private static final int CLUSTER_ID_OFFSET = 32;
    private static final int AREA_ID_OFFSET = 40;
    private static final int FILE_IDENTITY_OFFSET = 48;
    private static final int HASH_SEED_OFFSET = 56;
    private static final int INCARNATION_OFFSET = 64;
    private static final int TAKEN_OFFSET = 72;
    private static final int SERVER_ID_OFFSET = 80;
    private static final int SHARD_COUNT_OFFSET = 84;
    private static final int SEGMENT_COUNT_OFFSET = 88;
    private static final int SEGMENT_LENGTH_OFFSET = 92;
    private static final int LAST_SEQUENCE_OFFSET = 96;
    private static final int SEGMENTS_OFFSET = 104;
    private static final int SHARDS_OFFSET = 108;
    static final int HEADER_LENGTH = 112;

    private static final int SEGMENT_LINE = 24;
    private static final int SHARD_LINE = 64;
    private static final int CLEAR_LINE = 16;
    private static final int SESSION_LINE = 32;
    private static final int ANSWER_LINE = 40;

    private CheckpointDescriptor() {}

    static ByteBuffer encode(Checkpoint checkpoint) {
        final ByteBuffer out =
                ByteBuffer.allocate(Math.toIntExact(lengthOf(checkpoint))).order(ByteOrder.LITTLE_ENDIAN);
        final Origin origin = checkpoint.origin();
        out.putLong(MAGIC).putInt(FORMAT_VERSION).putInt(0).putLong(out.capacity());
        out.putLong(checkpoint.number())
                .putLong(origin.clusterId())
                .putLong(origin.areaId())
                .putLong(origin.fileIdentity())
                .putLong(origin.hashSeed())
                .putLong(checkpoint.incarnation())
                .putLong(checkpoint.takenMs());
        out.putInt(origin.serverId())
                .putInt(origin.shardCount())
                .putInt(origin.segmentCount())
                .putInt(origin.segmentLength())
                .putLong(checkpoint.lastSequence())
                .putInt(checkpoint.segments().size())
                .putInt(checkpoint.shards().size());
        for (CoveredSegment line : checkpoint.segments()) {
            out.putInt(line.segment()).putInt(line.generation()).putInt(line.entryBytes());
            out.putInt(line.tombstoneBytes()).putLong(line.since());
        }
        checkpoint.shards().forEach(part -> putShard(out, part));
        seal(out);
        return out.flip();
    }

    static void seal(ByteBuffer file) {
        file.putInt(CHECKSUM_OFFSET, checksum(file));
    }

    private static long lengthOf(Checkpoint checkpoint) {
        long length =
                HEADER_LENGTH + (long) SEGMENT_LINE * checkpoint.segments().size();
        for (ShardPart part : checkpoint.shards()) {
            length += SHARD_LINE + (long) CLEAR_LINE * clearLines(part);
            for (SessionImage session : part.sessions()) {
                length += SESSION_LINE + (long) ANSWER_LINE * session.answers().size();
            }
        }
        return length;
    }

    private static void putShard(ByteBuffer out, ShardPart part) {
        out.putInt(part.shard()).putInt(part.tenure());
        out.putLong(part.imageNumber()).putLong(part.imageLength()).putLong(part.items());
        out.putLong(part.imageRound()).putLong(part.itemsUpTo()).putLong(part.commitVersion());
        out.putInt(clearLines(part)).putInt(part.sessions().size());
        for (Clears.Clear clear : part.clears()) {
            out.putInt(clear.cacheId()).putInt(0).putLong(clear.version());
        }
        final BitSet ids = part.destroyed();
        for (int first = ids.nextSetBit(0); first >= 0; ) {
            final int end = ids.nextClearBit(first);
            out.putInt(first).putInt(end - first).putLong(0);
            first = ids.nextSetBit(end);
        }
        for (SessionImage session : part.sessions()) {
            out.putLong(session.sessionId()).putLong(session.openAddress()).putLong(session.firstUnanswered());
            out.putInt(session.answers().size()).putInt(0);
            for (SessionImage.Answer answer : session.answers()) {
                out.putLong(answer.sequence()).putLong(answer.version()).putLong(answer.previousVersion());
                out.putLong(answer.address()).putInt(answer.bits()).putInt(answer.keptLength());
            }
        }
    }

    /** One for each clear, and one for each run of consecutive ids of destroyed caches. */
    private static int clearLines(ShardPart part) {
        final BitSet ids = part.destroyed();
        int runs = 0;
        for (int first = ids.nextSetBit(0); first >= 0; first = ids.nextSetBit(ids.nextClearBit(first))) {
            runs++;
        }
        return part.clears().size() + runs;
    }

    private static int checksum(ByteBuffer file) {
        final CRC32C crc = new CRC32C();
        crc.update(file.duplicate().clear().position(LENGTH_OFFSET));
        return (int) crc.getValue();
    }

    /** The reason why these bytes are no usable checkpoint, or null. */
    static @Nullable String whyInvalid(ByteBuffer file) {
        if (file.capacity() < HEADER_LENGTH || file.getLong(0) != MAGIC) {
            return "it is no checkpoint";
        }
        final int format = file.getInt(FORMAT_VERSION_OFFSET);
        if (format < OLDEST_VERSION || format > FORMAT_VERSION) {
            return "it has format version " + format + ", this version of Rowan-KV reads " + OLDEST_VERSION + " to "
                    + FORMAT_VERSION;
        }
        if (file.getLong(LENGTH_OFFSET) != file.capacity()) {
            return "it has " + file.capacity() + " bytes, not " + file.getLong(LENGTH_OFFSET);
        }
        return file.getInt(CHECKSUM_OFFSET) == checksum(file) ? null : "its checksum is wrong";
    }

    /** Requires that {@link #whyInvalid} is null. */
    static Checkpoint decode(ByteBuffer file) {
        final Origin origin = new Origin(
                file.getLong(CLUSTER_ID_OFFSET),
                file.getLong(AREA_ID_OFFSET),
                file.getLong(FILE_IDENTITY_OFFSET),
                file.getLong(HASH_SEED_OFFSET),
                file.getInt(SERVER_ID_OFFSET),
                file.getInt(SHARD_COUNT_OFFSET),
                file.getInt(SEGMENT_COUNT_OFFSET),
                file.getInt(SEGMENT_LENGTH_OFFSET));
        final ByteBuffer in = file.duplicate().order(ByteOrder.LITTLE_ENDIAN).clear();
        in.position(HEADER_LENGTH);
        final List<CoveredSegment> segments = new ArrayList<>();
        for (int i = file.getInt(SEGMENTS_OFFSET); i > 0; i--) {
            segments.add(new CoveredSegment(in.getInt(), in.getInt(), in.getInt(), in.getInt(), in.getLong()));
        }
        final List<ShardPart> shards = new ArrayList<>();
        for (int i = file.getInt(SHARDS_OFFSET); i > 0; i--) {
            shards.add(shard(in));
        }
        return new Checkpoint(
                file.getLong(NUMBER_OFFSET),
                origin,
                file.getLong(INCARNATION_OFFSET),
                file.getLong(TAKEN_OFFSET),
                file.getLong(LAST_SEQUENCE_OFFSET),
                segments,
                shards);
    }

    private static ShardPart shard(ByteBuffer in) {
        final int shard = in.getInt();
        final int tenure = in.getInt();
        final long imageNumber = in.getLong();
        final long imageLength = in.getLong();
        final long items = in.getLong();
        final long imageRound = in.getLong();
        final long itemsUpTo = in.getLong();
        final long commitVersion = in.getLong();
        final int clearCount = in.getInt();
        final int sessionCount = in.getInt();
        final List<Clears.Clear> clears = new ArrayList<>();
        final BitSet destroyed = new BitSet();
        for (int i = 0; i < clearCount; i++) {
            final int cacheId = in.getInt();
            destroyed.set(cacheId, cacheId + in.getInt());
            final long version = in.getLong();
            if (version != 0) {
                clears.add(new Clears.Clear(cacheId, version));
            }
        }
        final List<SessionImage> sessions = new ArrayList<>();
        for (int i = 0; i < sessionCount; i++) {
            sessions.add(session(in));
        }
        return new ShardPart(
                shard,
                tenure,
                imageNumber,
                imageLength,
                items,
                imageRound,
                itemsUpTo,
                commitVersion,
                clears,
                destroyed,
                sessions);
    }

    private static SessionImage session(ByteBuffer in) {
        final long sessionId = in.getLong();
        final long openAddress = in.getLong();
        final long firstUnanswered = in.getLong();
        final int count = in.getInt();
        in.getInt();
        final List<SessionImage.Answer> answers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final long sequence = in.getLong();
            final long version = in.getLong();
            final long previousVersion = in.getLong();
            final long address = in.getLong();
            answers.add(new SessionImage.Answer(sequence, version, previousVersion, in.getInt(), address, in.getInt()));
        }
        return new SessionImage(sessionId, openAddress, firstUnanswered, answers);
    }
}
