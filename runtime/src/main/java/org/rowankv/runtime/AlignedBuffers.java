package org.rowankv.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Direct memory that begins at a multiple of a power of two. Stateless, any thread. */
public final class AlignedBuffers {
    private AlignedBuffers() {}

    /**
     * Zeroed memory of exactly that many bytes, little endian. A bare aligned slice may be longer, or shorter if that is no
     * multiple, depending on where the system has put the memory: then the same seed would not give the same run.
     *
     * @param alignment a power of two
     * @throws OutOfMemoryError if the JVM may not use so much direct memory
     */
    public static ByteBuffer allocate(int length, int alignment) {
        final int multiple = Math.addExact(length, alignment - 1) & -alignment;
        return ByteBuffer.allocateDirect(Math.addExact(multiple, alignment))
                .alignedSlice(alignment)
                .slice(0, length)
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
