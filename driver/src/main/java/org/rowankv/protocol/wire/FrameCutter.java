package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Cuts what arrives on one connection into frames, wherever the network cut it. What is missing of a frame is waited for in
 * a buffer of this connection that grows with what has come, not with what was announced; a connection at rest has none.
 *
 * <p>A frame that cannot be taken now stays here, and so does all behind it, until {@link #resume}.
 */
public final class FrameCutter {
    /** Takes frames. */
    @FunctionalInterface
    public interface Taker {
        /**
         * A whole frame whose length is within the limit and whose crc agrees.
         *
         * @param buffer little-endian; the bytes are there during the call only
         * @return false if it cannot be taken now: it will be handed on again
         */
        boolean onFrame(ByteBuffer buffer, int at, int length) throws ProtocolException;
    }

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);
    private static final int FIRST_CAPACITY = 1 << 10;

    private final int maxFrame;
    private final FrameChecksum checksum = new FrameChecksum();
    /** From 0 to its position: what waits. */
    private ByteBuffer held = NOTHING;

    private boolean blocked;

    /** @param maxFrame the longest frame that is accepted */
    public FrameCutter(int maxFrame) {
        this.maxFrame = maxFrame;
    }

    /** Hands on what is whole, with all that was held back before it; keeps the rest. All of the buffer is used up. */
    public void take(ByteBuffer in, Taker taker) throws ProtocolException {
        if (held.position() == 0 && !blocked) {
            in.position(consume(in, in.position(), in.limit(), taker));
            hold(in);
        } else {
            hold(in);
            if (!blocked) {
                consumeHeld(taker);
            }
        }
    }

    /** Goes on with what could not be taken. */
    public void resume(Taker taker) throws ProtocolException {
        if (blocked) {
            blocked = false;
            consumeHeld(taker);
        }
    }

    /** Whether a frame waits to be taken. */
    public boolean isBlocked() {
        return blocked;
    }

    /** How many bytes are kept here. */
    public int heldBytes() {
        return held.position();
    }

    private void consumeHeld(Taker taker) throws ProtocolException {
        final int end = held.position();
        final int used = consume(held, 0, end, taker);
        if (used == end) {
            held = NOTHING;
        } else if (used > 0) {
            held.limit(end).position(used);
            held.compact();
        }
    }

    private void hold(ByteBuffer in) {
        if (!in.hasRemaining()) {
            return;
        }
        if (held.capacity() - held.position() < in.remaining()) {
            final int needed = held.position() + in.remaining();
            final ByteBuffer larger = ByteBuffer.allocate(Math.max(
                            needed, Math.max(FIRST_CAPACITY, Math.min(2 * held.capacity(), maxFrame))))
                    .order(ByteOrder.LITTLE_ENDIAN);
            held.flip();
            larger.put(held);
            held = larger;
        }
        held.put(in);
    }

    /** Where what was not consumed begins. */
    private int consume(ByteBuffer buffer, int from, int to, Taker taker) throws ProtocolException {
        int at = from;
        while (to - at >= FrameDescriptor.HEAD_LENGTH) {
            final int length = FrameDescriptor.length(buffer, at);
            if (length < FrameDescriptor.HEAD_LENGTH || length > maxFrame) {
                throw new ProtocolException(ProtocolFault.BAD_LENGTH, "length " + length);
            }
            if (to - at < length) {
                return at;
            }
            if (checksum.of(buffer, at + FrameDescriptor.LENGTH_OFFSET, length - FrameDescriptor.LENGTH_OFFSET)
                    != buffer.getInt(at + FrameDescriptor.CRC_OFFSET)) {
                throw new ProtocolException(ProtocolFault.BAD_CHECKSUM, "of a frame of " + length + " bytes");
            }
            if (!taker.onFrame(buffer, at, length)) {
                blocked = true;
                return at;
            }
            at += length;
        }
        return at;
    }
}
