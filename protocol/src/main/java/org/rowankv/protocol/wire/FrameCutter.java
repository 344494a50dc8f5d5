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

    private final FrameLimits limits;
    private final HeldBytes memory;
    private final FrameChecksum checksum = new FrameChecksum();
    /** From 0 to its position: what waits. */
    private ByteBuffer held = NOTHING;

    private boolean blocked;
    private boolean released;

    /** @param maxFrame the longest frame that is accepted */
    public FrameCutter(int maxFrame) {
        this(type -> maxFrame, HeldBytes.UNCOUNTED);
    }

    /**
     * A cutter for frames within limits.
     *
     * @param memory hears what is held here
     */
    public FrameCutter(FrameLimits limits, HeldBytes memory) {
        this.limits = limits;
        this.memory = memory;
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

    /** Bytes that the buffer takes. */
    public int capacity() {
        return held.capacity();
    }

    /** Length of the frame that is not whole yet; 0 while there is none, or its head is not whole. */
    public int awaitedLength() {
        return blocked || held.position() < FrameDescriptor.HEAD_LENGTH ? 0 : FrameDescriptor.length(held, 0);
    }

    /** The connection is over: what is kept is dropped, and so is what comes. */
    public void release() {
        released = true;
        replace(NOTHING);
    }

    private void replace(ByteBuffer buffer) {
        final int delta = buffer.capacity() - held.capacity();
        held = buffer;
        if (delta != 0) {
            memory.changed(delta);
        }
    }

    private void consumeHeld(Taker taker) throws ProtocolException {
        final ByteBuffer buffer = held;
        final int end = buffer.position();
        final int used = consume(buffer, 0, end, taker);
        if (released) {
            return; // a frame has ended the connection
        }
        if (used == end) {
            replace(NOTHING);
        } else if (used > 0) {
            buffer.limit(end).position(used);
            buffer.compact();
        }
    }

    private void hold(ByteBuffer in) {
        if (released) {
            in.position(in.limit());
        }
        if (!in.hasRemaining()) {
            return;
        }
        if (held.capacity() - held.position() < in.remaining()) {
            final int needed = held.position() + in.remaining();
            // Twice as much, but no more than the frame needs that it begins with.
            final int frame = Math.max(FIRST_CAPACITY, awaitedLength());
            final ByteBuffer larger = ByteBuffer.allocate(Math.max(
                            needed, Math.max(FIRST_CAPACITY, Math.min(2 * held.capacity(), frame))))
                    .order(ByteOrder.LITTLE_ENDIAN);
            held.flip();
            larger.put(held);
            replace(larger);
        }
        held.put(in);
    }

    /** Where what was not consumed begins. */
    private int consume(ByteBuffer buffer, int from, int to, Taker taker) throws ProtocolException {
        int at = from;
        while (to - at >= FrameDescriptor.HEAD_LENGTH) {
            final int length = FrameDescriptor.length(buffer, at);
            final int type = FrameDescriptor.type(buffer, at);
            if (length < FrameDescriptor.HEAD_LENGTH || length > limits.longest(type)) {
                throw new ProtocolException(
                        ProtocolFault.BAD_LENGTH,
                        "length " + length + " of a frame of type " + type + ", which may have "
                                + FrameDescriptor.HEAD_LENGTH + " to " + limits.longest(type) + " bytes");
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
