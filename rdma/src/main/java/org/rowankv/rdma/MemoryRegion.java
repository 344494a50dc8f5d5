package org.rowankv.rdma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory that a fabric may land messages in: direct or mapped buffers of equal size, seen as one range of byte addresses.
 *
 * <p>A mapping longer than 2 GiB cannot be one buffer, so an address is split by shift and mask into chunk and offset. The
 * region guarantees little-endian order and 8-byte alignment of each chunk, which the atomic words in it need. It does
 * not own the memory: who mapped it keeps it mapped until every endpoint over it is closed and no sender names it.
 *
 * <p>Immutable, for any thread.
 */
public final class MemoryRegion {
    private final ByteBuffer[] chunks;
    private final int chunkShift;
    private final long chunkMask;
    private final long length;

    /** Takes views of the chunks; all but the last must be {@code 1 << chunkShift} bytes long. */
    public MemoryRegion(ByteBuffer[] chunks, int chunkShift) {
        if (chunkShift < 6 || chunkShift > 30) {
            throw new IllegalArgumentException("chunkShift must be 6 to 30: " + chunkShift);
        }
        if (chunks.length == 0) {
            throw new IllegalArgumentException("a region needs at least one chunk");
        }
        this.chunks = new ByteBuffer[chunks.length];
        this.chunkShift = chunkShift;
        this.chunkMask = (1L << chunkShift) - 1;
        long sum = 0;
        for (int i = 0; i < chunks.length; i++) {
            final ByteBuffer chunk = chunks[i];
            if (!chunk.isDirect() || chunk.alignmentOffset(0, Long.BYTES) != 0) {
                throw new IllegalArgumentException("chunk " + i + " must be direct and 8-byte aligned");
            }
            final long full = 1L << chunkShift;
            if (chunk.capacity() > full || (i < chunks.length - 1 && chunk.capacity() != full)) {
                throw new IllegalArgumentException("chunk " + i + " has " + chunk.capacity() + " bytes, not " + full);
            }
            this.chunks[i] = chunk.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            sum += chunk.capacity();
        }
        this.length = sum;
    }

    /** A region of one chunk. */
    public static MemoryRegion of(ByteBuffer buffer) {
        final int shift = Math.max(6, Long.SIZE - Long.numberOfLeadingZeros(buffer.capacity() - 1L));
        return new MemoryRegion(new ByteBuffer[] {buffer}, shift);
    }

    public long length() {
        return length;
    }

    /** The chunk that holds the address. It is shared: use absolute accessors only. */
    public ByteBuffer buffer(long address) {
        return chunks[(int) (address >>> chunkShift)];
    }

    /** Offset of the address in its chunk. */
    public int offset(long address) {
        return (int) (address & chunkMask);
    }

    public int chunkShift() {
        return chunkShift;
    }

    /** Whether the range lies within the region and within one chunk of it. */
    public boolean isContiguous(long address, long size) {
        return address >= 0
                && size >= 0
                && address <= length - size
                && (size == 0 || (address >>> chunkShift) == ((address + size - 1) >>> chunkShift));
    }
}
