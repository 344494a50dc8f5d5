package org.rowankv.protocol.frame;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;

/**
 * Input of one handshake frame, without later bytes. It trusts nothing: its memory grows with the arrived bytes, and
 * invalid input fails as early as possible. Owned by the connection.
 *
 * <p>A frame of another port or version is read completely before it fails, if its length is within the limit: closing
 * the connection with unread bytes would lose the response.
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

    /** Takes bytes up to the end of the frame; returns whether it is complete. */
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

    /** As {@link #take}, from the channel; returns the number of bytes, or -1 at its end. */
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

    /** Whether the arrived bytes begin like that port's frames. */
    private boolean begins(WirePort of) {
        for (int i = 0; i < Math.min(heard.position(), Long.BYTES); i++) {
            if (heard.get(i) != (byte) (of.magic() >>> i * Byte.SIZE)) {
                return false;
            }
        }
        return true;
    }
}
