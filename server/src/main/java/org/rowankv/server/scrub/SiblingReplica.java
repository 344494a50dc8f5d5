package org.rowankv.server.scrub;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/** The replica of another server in this process, read without a lock while that server runs. */
public final class SiblingReplica implements PeerReplica {
    private static final int LOOKS = 8;

    private final Segments segments;
    private final ShardReplica replica;
    private final LongSupplier digestCycles;
    private final EntryCheck check;

    /** @param digestCycles quiet cycles of that server: after two more, all that had landed there is in its index */
    public SiblingReplica(Segments segments, ShardReplica replica, LongSupplier digestCycles) {
        this.segments = segments;
        this.replica = replica;
        this.digestCycles = digestCycles;
        this.check = new EntryCheck(segments.region());
    }

    @Override
    public long digestCycles(long position) {
        return digestCycles.getAsLong();
    }

    @Override
    public @Nullable ByteBuffer find(long position, Match match) {
        for (int look = 0; look < LOOKS; look++) {
            final List<ByteBuffer> copies = new ArrayList<>();
            final boolean unused = look(position, copies);
            for (ByteBuffer copy : copies) {
                if (match.test(copy)) {
                    return copy;
                }
            }
        }
        return null;
    }

    /** Copies of the whole entries to which the index refers at that position. */
    public List<ByteBuffer> all(long position) {
        final List<ByteBuffer> copies = new ArrayList<>();
        for (int look = 0; look < LOOKS; look++) {
            copies.clear();
            if (look(position, copies)) {
                return copies;
            }
        }
        return copies;
    }

    /** Whether every item at the position gave a copy: otherwise it may have moved meanwhile. */
    private boolean look(long position, List<ByteBuffer> copies) {
        boolean isWhole = true;
        long address = replica.index().candidate(position, 0);
        for (int n = 1; address != 0; n++) {
            final ByteBuffer copy = copyOf(address);
            if (copy == null) {
                isWhole = false;
            } else {
                copies.add(copy);
            }
            address = replica.index().candidate(position, n);
        }
        return isWhole;
    }

    private @Nullable ByteBuffer copyOf(long address) {
        final Copy copy = begin(address);
        return copy == null ? null : finish(copy);
    }

    /** Bytes that were whole in one use of their segment before they were copied. */
    @SuppressWarnings("ArrayRecordComponent")
    record Copy(int segment, int generation, byte[] bytes) {}

    /** Copies the entry at an address; null if there is none. The copy counts only after {@link #finish}. */
    @Nullable
    Copy begin(long address) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final long end = segments.area().addressOf(segment) + segments.length();
        if (generation == 0 || check.whyInvalid(address, end, generation) != null) {
            return null;
        }
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordAcquire(buffer, at);
        final int length = FrameDescriptor.length(word);
        if (length <= 0 || at + length > buffer.capacity() || !EntryType.holdsObject(FrameDescriptor.type(word))) {
            return null;
        }
        final byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return new Copy(segment, generation, bytes);
    }

    /** The entry, or null if its segment was reused meanwhile. Whole before the copy, in the same use after it: it is whole. */
    @Nullable
    ByteBuffer finish(Copy copy) {
        VarHandle.acquireFence();
        return segments.generation(copy.segment) == copy.generation
                ? ByteBuffer.wrap(copy.bytes).order(ByteOrder.LITTLE_ENDIAN)
                : null;
    }
}
