package org.rowankv.protocol.frame;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory of a connection's incomplete frame. Called when a buffer grows or is dropped, not per frame. */
@FunctionalInterface
public interface FrameMemory {
    /** An empty buffer, shared by all idle connections. */
    ByteBuffer NOTHING = ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);

    /**
     * Replaces a buffer, which must not be used afterwards.
     *
     * @param current the last returned buffer, or {@link #NOTHING}; its bytes from 0 to its position are copied if they
     *     fit
     * @param capacity of the next; 0: {@link #NOTHING}
     * @return little-endian, positioned after the copied bytes
     */
    ByteBuffer replace(ByteBuffer current, int capacity);

    /** On the heap. */
    static FrameMemory onHeap(BufferAccounting counted) {
        return (current, capacity) -> {
            final ByteBuffer next = capacity == 0 ? NOTHING : copy(current, ByteBuffer.allocate(capacity));
            counted.changed(capacity - current.capacity());
            return next;
        };
    }

    /** The bytes of the first, from 0 to its position, at the beginning of the second. */
    static ByteBuffer copy(ByteBuffer from, ByteBuffer to) {
        to.order(ByteOrder.LITTLE_ENDIAN).put(0, from, 0, from.position()).position(from.position());
        return to;
    }
}
