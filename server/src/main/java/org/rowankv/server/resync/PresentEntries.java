package org.rowankv.server.resync;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * What two servers have alike, found without sending it. A question names objects of one shard, twenty bytes each,
 * little endian: position, version, checksum of the body. A version is assigned once in a shard for ever, so equal ones
 * are of equal entries, wherever they lie; the checksum keeps what is damaged apart. Stateless, any thread.
 */
public final class PresentEntries {
    /** Most entries of a question. */
    static final int MOST = 512;

    private static final int POSITION_OFFSET = 0;
    private static final int VERSION_OFFSET = POSITION_OFFSET + Long.BYTES;
    private static final int CHECKSUM_OFFSET = VERSION_OFFSET + Long.BYTES;
    private static final int LENGTH = CHECKSUM_OFFSET + Integer.BYTES;

    private PresentEntries() {}

    /** A question about so many entries, to be filled. */
    static ByteBuffer question(int entries) {
        return ByteBuffer.allocate(entries * LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** @param checksum of the body */
    static void add(ByteBuffer question, long position, long version, int checksum) {
        question.putLong(position).putLong(version).putInt(checksum);
    }

    /** Why the bytes are no question, or null. */
    public static @Nullable String whyInvalid(ByteBuffer question) {
        final int bytes = question.remaining();
        return bytes % LENGTH != 0 || bytes > MOST * LENGTH ? "a question about entries in " + bytes + " bytes" : null;
    }

    /** A bit for each entry of the question that is in the replica, and shown to readers, now. */
    public static BitSet presentIn(ShardReplica replica, Segments segments, ByteBuffer question) {
        final BitSet present = new BitSet();
        for (int i = 0; i < question.remaining() / LENGTH; i++) {
            final int at = question.position() + i * LENGTH;
            present.set(
                    i,
                    isPresent(
                            replica,
                            segments,
                            question.getLong(at + POSITION_OFFSET),
                            question.getLong(at + VERSION_OFFSET),
                            question.getInt(at + CHECKSUM_OFFSET)));
        }
        return present;
    }

    /** Whether the replica's index points to an object with that version and checksum. */
    static boolean isPresent(ShardReplica replica, Segments segments, long position, long version, int checksum) {
        long address = replica.index().candidate(position, 0);
        for (int n = 1; address != 0; n++) {
            if (isEntry(replica, segments, address, version, checksum)) {
                return true;
            }
            address = replica.index().candidate(position, n);
        }
        return false;
    }

    private static boolean isEntry(ShardReplica replica, Segments segments, long address, long version, int checksum) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordAcquire(entry, at);
        final boolean isIt = generation != 0
                && FrameDescriptor.generation(word) == generation
                && EntryDescriptor.version(entry, at) == version
                && FrameDescriptor.bodyCrc(entry, at) == checksum
                && replica.isVisible(FrameDescriptor.type(word), EntryDescriptor.cacheId(entry, at), version);
        VarHandle.acquireFence();
        return isIt && segments.generation(segment) == generation;
    }
}
