package org.rowankv.protocol.frame;

import java.nio.ByteBuffer;

/**
 * Decoder of one connection's frames, independent of how the network cuts them. It passes a complete frame in place. An
 * incomplete frame waits in a buffer that grows with the arrived bytes, not with the announced length; an idle
 * connection has none.
 *
 * <p>A frame that cannot be processed now waits, with all later ones, until {@link #resume}.
 */
public final class FrameDecoder {
    /** Receives frames. */
    @FunctionalInterface
    public interface Taker {
        /**
         * A complete frame with an accepted length and a valid crc.
         *
         * @param buffer little-endian; valid only during the call
         * @return false if it cannot be processed now: it is passed again later
         */
        boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException;
    }

    private static final int FIRST_CAPACITY = 1 << 10;

    private final int headLength;
    private final boolean coversFrame;
    private final FrameLimits limits;
    private final FrameMemory memory;
    private final WireChecksum checksum = new WireChecksum();
    /** From 0 to its position: what waits. Not blocked: the beginning of one frame. */
    private ByteBuffer held = FrameMemory.NOTHING;
    /** Length of the frame that begins what is held, within its limit; 0: its head is not whole. */
    private int awaited;

    private boolean blocked;
    private boolean released;

    /** @param memory for what is held here */
    public FrameDecoder(WirePort port, FrameLimits limits, FrameMemory memory) {
        this.headLength = port.headLength();
        this.coversFrame = port.coversFrame();
        this.limits = limits;
        this.memory = memory;
    }

    /** Passes complete frames, held ones first; keeps the rest. Consumes the whole buffer. */
    public void take(ByteBuffer in, Taker taker) throws WireException {
        if (!blocked && (held.position() == 0 || completesHeld(in, taker))) {
            in.position(consume(in, in.position(), in.limit(), taker));
        }
        hold(in, in.remaining());
    }

    /** Retries a frame that could not be processed. */
    public void resume(Taker taker) throws WireException {
        if (!blocked) {
            return;
        }
        blocked = false;
        final ByteBuffer buffer = held;
        final int end = buffer.position();
        final int used = consume(buffer, 0, end, taker);
        if (released) {
            return; // a frame has ended the connection
        }
        if (used == end) {
            drop();
        } else if (used > 0) {
            buffer.limit(end).position(used);
            buffer.compact();
        }
    }

    /** Whether a frame waits to be processed. */
    public boolean isBlocked() {
        return blocked;
    }

    /** Number of held bytes. */
    public int heldBytes() {
        return held.position();
    }

    /** Capacity of the buffer. */
    public int capacity() {
        return held.capacity();
    }

    /** Length of the frame that is not whole yet; 0 while there is none, or its head is not whole. */
    public int awaitedLength() {
        return blocked ? 0 : awaited;
    }

    /** The connection has ended: drops held and later bytes. */
    public void release() {
        released = true;
        drop();
    }

    private void drop() {
        awaited = 0;
        if (held.capacity() > 0) {
            held = memory.replace(held, 0);
        }
    }

    /** Takes what the frame that is held lacks, and no more; whether it is over with. */
    private boolean completesHeld(ByteBuffer in, Taker taker) throws WireException {
        if (awaited == 0) {
            hold(in, Math.min(in.remaining(), headLength - held.position()));
            if (held.position() < headLength) {
                return false;
            }
            awaited = checkedLength(held, 0);
        }
        hold(in, Math.min(in.remaining(), awaited - held.position()));
        if (held.position() < awaited) {
            return false;
        }
        if (!isTaken(held, 0, awaited, taker)) {
            return false;
        }
        drop();
        return true;
    }

    private void hold(ByteBuffer in, int size) {
        if (released) {
            in.position(in.limit());
        }
        if (!in.hasRemaining() || size == 0) {
            return;
        }
        final int needed = held.position() + size;
        if (held.capacity() < needed) {
            // Twice as much, but no more than the frame needs that it begins with.
            final int most = Math.max(FIRST_CAPACITY, awaited);
            final int next = Math.max(FIRST_CAPACITY, Math.min(2 * held.capacity(), most));
            held = memory.replace(held, Math.max(needed, next));
        }
        held.put(held.position(), in, in.position(), size).position(needed);
        in.position(in.position() + size);
    }

    /** Where what was not consumed begins. */
    private int consume(ByteBuffer buffer, int from, int to, Taker taker) throws WireException {
        int at = from;
        awaited = 0;
        while (!released && to - at >= headLength) {
            final int length = checkedLength(buffer, at);
            if (to - at < length) {
                awaited = length;
                return at;
            }
            if (!isTaken(buffer, at, length, taker)) {
                return at;
            }
            at += length;
        }
        return at;
    }

    /** Fails unless the length of the frame whose head stands there is one that its type may have. */
    private int checkedLength(ByteBuffer buffer, int at) throws WireException {
        final int length = FrameHeadDescriptor.length(buffer, at);
        final int type = FrameHeadDescriptor.type(buffer, at);
        if (length < headLength) {
            throw new WireException(WireFault.BAD_LENGTH, "length " + length + " of a frame of type " + type);
        }
        if (!coversFrame) {
            requireCrc(buffer, at, headLength);
        }
        final int longest = limits.longest(type);
        if (longest < 0) {
            throw new WireException(WireFault.BAD_FRAME, "type " + type);
        }
        if (length > longest) {
            throw new WireException(
                    WireFault.BAD_LENGTH,
                    "length " + length + " of a frame of type " + type + ", which may have " + headLength + " to "
                            + longest + " bytes");
        }
        return length;
    }

    private boolean isTaken(ByteBuffer buffer, int at, int length, Taker taker) throws WireException {
        if (coversFrame) {
            requireCrc(buffer, at, length);
        }
        blocked = !taker.onFrame(buffer, at, length) && !released;
        return !blocked;
    }

    private void requireCrc(ByteBuffer buffer, int at, int covered) throws WireException {
        if (FrameHeadDescriptor.crc(buffer, at, covered, checksum)
                != buffer.getInt(at + FrameHeadDescriptor.CRC_OFFSET)) {
            throw new WireException(
                    WireFault.BAD_CHECKSUM,
                    "of " + covered + " bytes of a frame of type " + FrameHeadDescriptor.type(buffer, at));
        }
    }
}
