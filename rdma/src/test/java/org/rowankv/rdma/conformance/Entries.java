package org.rowankv.rdma.conformance;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * Entries that carry an identity and a body made from it, so that a reader recognizes their sender and whether they are
 * whole. For one thread.
 */
public final class Entries {
    public static final int TYPE = 7;
    /** Smallest entry: a frame, its identity, its body length. */
    public static final int MIN_LENGTH = FrameDescriptor.HEADER_LENGTH + 12;

    private static final int ID = FrameDescriptor.HEADER_LENGTH;
    private static final int LENGTH = ID + Long.BYTES;

    private final FrameChecksum checksum = new FrameChecksum();
    private final ByteBuffer source = ByteBuffer.allocateDirect(256 << 10).order(ByteOrder.LITTLE_ENDIAN);

    /** Makes the entry at offset 0 of the returned buffer, which is the same each time. */
    public ByteBuffer make(long id, int length) {
        source.putLong(ID, id);
        source.putInt(LENGTH, length);
        for (int at = MIN_LENGTH; at < length; at++) {
            source.put(at, (byte) (id * 31 + at));
        }
        final int crc = checksum.body(source, ID, length - ID);
        FrameDescriptor.source(source, 0, length, TYPE, crc);
        return source;
    }

    /** Identity of the landed entry; fails if it is not valid at that place, under that generation, with that tag. */
    public long verify(EndpointSettings settings, int segment, long address, int generation, int tag) {
        final ByteBuffer buffer = settings.region().buffer(address);
        final int at = settings.region().offset(address);
        final long end = settings.segmentAddress(segment) + settings.segmentLength();
        final int limit = at + (int) (end - address);
        String reason = FrameDescriptor.whyInvalid(buffer, at, limit, address, generation, checksum);
        final int length = buffer.getInt(at + LENGTH);
        if (reason == null) {
            reason = FrameDescriptor.whyBodyInvalid(buffer, at, length - ID, checksum);
        }
        if (reason == null && FrameDescriptor.tag(buffer, at) != tag) {
            reason = "the tag is " + FrameDescriptor.tag(buffer, at) + ", not " + tag;
        }
        if (reason == null && FrameDescriptor.length(FrameDescriptor.wordAcquire(buffer, at)) < length) {
            reason = "the frame is shorter than the entry";
        }
        if (reason != null) {
            throw new AssertionError("segment " + segment + ", address " + address + ": " + reason);
        }
        return buffer.getLong(at + ID);
    }

    /** Length of a landed entry that was verified. */
    public static int length(EndpointSettings settings, long address) {
        return settings.region().buffer(address).getInt(settings.region().offset(address) + LENGTH);
    }
}
