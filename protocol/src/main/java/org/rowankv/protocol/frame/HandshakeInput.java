package org.rowankv.protocol.frame;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Collects one frame of a handshake, and none of the bytes behind it. Believes nothing: what it keeps grows with what has arrived, and
 * what cannot become a frame fails as soon as that is certain. Owned by the connection.
 *
 * <p>Of another port or version all is read before it fails, if its length is within the limit: the answer to it would be lost if
 * the connection were closed with bytes of it unread.
 */
public final class HandshakeInput {
    private static final int FIRST_CAPACITY = 128;

    private final WirePort port;
    private final boolean called;
    private int longest;
    /** From 0 to its position: what has arrived. */
    private ByteBuffer heard = FrameMemory.NOTHING;

    private boolean whole;

    /**
     * For the first frame.
     *
     * @param called whether this is the end that was called
     * @param longest frame that is read, of whatever version
     */
    public HandshakeInput(WirePort port, boolean called, int longest) {
        this.port = port;
        this.called = called;
        this.longest = longest;
    }

    /** Forgets the frame; goes on with the next. */
    public void next(int longestNext) {
        heard = FrameMemory.NOTHING;
        whole = false;
        longest = longestNext;
    }

    /** Takes bytes up to the end of the frame; whether that is whole. */
    public boolean take(ByteBuffer in) throws WireException {
        while (!whole && in.hasRemaining()) {
            final int size = Math.min(missing(), in.remaining());
            makeRoom(size);
            heard.put(in.slice(in.position(), size));
            in.position(in.position() + size);
            whole = isWhole();
        }
        return whole;
    }

    /** As {@link #take}, of what the channel has; how many bytes that was, or -1 at its end. */
    public int readFrom(ReadableByteChannel channel) throws IOException, WireException {
        makeRoom(missing());
        heard.limit(heard.position() + missing());
        final int count = channel.read(heard);
        heard.limit(heard.capacity());
        whole = isWhole();
        return count;
    }

    /** Whether the frame has arrived, and its crc agrees. */
    public boolean isComplete() {
        return whole;
    }

    /** The whole frame: little-endian, from 0 to its limit. */
    public ByteBuffer frame() {
        return heard.duplicate().flip().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** At least 1, never more than the frame has. */
    private int missing() {
        final int have = heard.position();
        return have < HandshakeDescriptor.PREFIX_LENGTH
                ? HandshakeDescriptor.PREFIX_LENGTH - have
                : heard.getInt(HandshakeDescriptor.LENGTH_OFFSET) - have;
    }

    private void makeRoom(int size) {
        final int needed = heard.position() + size;
        if (heard.capacity() < needed) {
            heard = FrameMemory.copy(
                    heard, ByteBuffer.allocate(Math.max(needed, Math.max(FIRST_CAPACITY, 2 * heard.capacity()))));
        }
    }

    private boolean isWhole() throws WireException {
        final int have = heard.position();
        final boolean ours = begins(port);
        if (!ours && !begins(port.other())) {
            throw new WireException(WireFault.FOREIGN_PROTOCOL, "its first bytes are not ours");
        }
        if (have < HandshakeDescriptor.PREFIX_LENGTH) {
            return false;
        }
        final int length = heard.getInt(HandshakeDescriptor.LENGTH_OFFSET);
        final int version = heard.getInt(HandshakeDescriptor.VERSION_OFFSET);
        final boolean fits = length >= HandshakeDescriptor.PREFIX_LENGTH && length <= longest;
        if (fits && have < length) {
            return false;
        }
        if (!ours) {
            throw new WireException(WireFault.OTHER_PORT, port.whyOtherPort(called));
        }
        if (version != HandshakeDescriptor.VERSION) {
            throw new WireException(WireFault.OTHER_VERSION, port.whyOtherVersion(called, version));
        }
        if (!fits) {
            throw new WireException(WireFault.BAD_LENGTH, "a handshake of " + length + " bytes");
        }
        if (heard.getInt(HandshakeDescriptor.CRC_OFFSET) != HandshakeDescriptor.crc(heard, length)) {
            throw new WireException(WireFault.BAD_CHECKSUM, "of the handshake");
        }
        return true;
    }

    /** Whether what has arrived begins as that port's frames do. */
    private boolean begins(WirePort of) {
        for (int i = 0; i < Math.min(heard.position(), Long.BYTES); i++) {
            if (heard.get(i) != (byte) (of.magic() >>> i * Byte.SIZE)) {
                return false;
            }
        }
        return true;
    }
}
