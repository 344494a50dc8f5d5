package org.rowankv.server.opening;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A question of a shard's new primary to another replica, or the answer, which repeats shard, epoch and, but for
 * HANDED_OVER, the argument. Immutable; the payload is shared: read it by absolute positions only.
 *
 * <p>Layout, little endian:
 *
 * <pre>
 *   0  kind          4
 *   4  shard         4
 *   8  epoch         4
 *  12  zero          4
 *  16  argument      8
 *  24  CommitVer     8
 *  32  payload
 * </pre>
 *
 * @param kind one of the constants
 * @param epoch of the shard, which begins with the opening
 * @param argument of COLLECT: a version; of FETCH: the version of an entry; of HANDED_OVER: whether by the last primary
 * @param commitVersion of the answering replica: in COLLECTED, and in HANDED_OVER by the last primary; else 0
 * @param payload from its position 0 to its limit; empty in a question
 */
public record OpeningMessage(int kind, int shard, int epoch, long argument, long commitVersion, ByteBuffer payload) {
    /**
     * Of a replica: its CommitVer, and its versions above the argument and above that CommitVer. It is answered once that
     * server has prepared the epoch, and has digested what had landed before.
     */
    public static final int COLLECT = 1;
    /** Payload: the versions in ascending order; as many as fit, if there are more. */
    public static final int COLLECTED = 2;
    /** The entry with that version. */
    public static final int FETCH = 3;
    /** Payload: the entry. */
    public static final int FETCHED = 4;

    /**
     * Give the shard up. It is answered once the roles of the epoch are in force at that server, and nothing that it sent
     * as the shard's primary is under way: all of that has landed everywhere, and it answers no read any more.
     */
    public static final int HAND_OVER = 5;
    /**
     * By the last primary, which has served the shard until this epoch, the argument is 1: it has no version above its
     * CommitVer, so this answers a COLLECT too. By the primary of the epoch before, 0 proves that it has not opened the
     * shard. Payload: its {@link HandedChanges change stream} if it has subscribers; else empty.
     */
    public static final int HANDED_OVER = 6;

    private static final int SHARD_OFFSET = 4;
    private static final int EPOCH_OFFSET = 8;
    private static final int ZERO_OFFSET = 12;
    private static final int ARGUMENT_OFFSET = 16;
    private static final int COMMIT_VERSION_OFFSET = 24;
    private static final int HEADER_LENGTH = 32;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    static OpeningMessage collect(int shard, int epoch, long above) {
        return new OpeningMessage(COLLECT, shard, epoch, above, 0, NOTHING);
    }

    static OpeningMessage fetch(int shard, int epoch, long version) {
        return new OpeningMessage(FETCH, shard, epoch, version, 0, NOTHING);
    }

    static OpeningMessage handOver(int shard, int epoch) {
        return new OpeningMessage(HAND_OVER, shard, epoch, 0, 0, NOTHING);
    }

    /** The answer of a server that was not the last primary. */
    OpeningMessage handedOver() {
        return new OpeningMessage(HANDED_OVER, shard, epoch, 0, 0, NOTHING);
    }

    /** The answer of the last primary. */
    OpeningMessage handedOver(long lastVersion, @Nullable ByteBuffer changes) {
        return new OpeningMessage(HANDED_OVER, shard, epoch, 1, lastVersion, changes == null ? NOTHING : changes);
    }

    /** Whether this is HANDED_OVER by the last primary. */
    boolean isOfLastPrimary() {
        return kind == HANDED_OVER && argument == 1;
    }

    OpeningMessage collected(long commitVersion, ByteBuffer versions) {
        return new OpeningMessage(COLLECTED, shard, epoch, argument, commitVersion, versions);
    }

    OpeningMessage fetched(ByteBuffer entry) {
        return new OpeningMessage(FETCHED, shard, epoch, argument, 0, entry);
    }

    boolean isQuestion() {
        return kind == COLLECT || kind == FETCH || kind == HAND_OVER;
    }

    /** The bytes of the message, from 0 to the limit. */
    public ByteBuffer encoded() {
        final ByteBuffer bytes = ByteBuffer.allocate(HEADER_LENGTH + payload.limit())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, kind)
                .putInt(SHARD_OFFSET, shard)
                .putInt(EPOCH_OFFSET, epoch)
                .putLong(ARGUMENT_OFFSET, argument)
                .putLong(COMMIT_VERSION_OFFSET, commitVersion);
        return bytes.put(HEADER_LENGTH, payload, 0, payload.limit());
    }

    /** Why the bytes, from 0 to the limit, are no message, or null. */
    public static @Nullable String whyInvalid(ByteBuffer bytes) {
        if (bytes.limit() < HEADER_LENGTH) {
            return "a message of " + bytes.limit() + " bytes";
        }
        final ByteBuffer read = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        final int kind = read.getInt(0);
        if (kind < COLLECT || kind > HANDED_OVER || read.getInt(ZERO_OFFSET) != 0) {
            return "message kind " + kind;
        }
        if (read.getInt(SHARD_OFFSET) < 0 || read.getInt(EPOCH_OFFSET) < 0) {
            return "shard " + read.getInt(SHARD_OFFSET) + ", epoch " + read.getInt(EPOCH_OFFSET);
        }
        return read.getLong(ARGUMENT_OFFSET) < 0 || read.getLong(COMMIT_VERSION_OFFSET) < 0
                ? "a negative version"
                : null;
    }

    /** Reads a message that {@link #whyInvalid} accepts; its payload is a view of the bytes. */
    public static OpeningMessage decoded(ByteBuffer bytes) {
        final ByteBuffer read = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        return new OpeningMessage(
                read.getInt(0),
                read.getInt(SHARD_OFFSET),
                read.getInt(EPOCH_OFFSET),
                read.getLong(ARGUMENT_OFFSET),
                read.getLong(COMMIT_VERSION_OFFSET),
                read.slice(HEADER_LENGTH, read.limit() - HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN));
    }
}
