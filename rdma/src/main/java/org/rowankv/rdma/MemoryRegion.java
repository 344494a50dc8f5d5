package org.rowankv.rdma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory in which a fabric may land messages: direct or mapped buffers of equal size, addressed as one range of bytes.
 *
 * <p>A mapping above 2 GiB cannot be one buffer, so shift and mask split an address into chunk and offset. The region
 * guarantees little-endian order and 8-byte alignment of each chunk, as its atomic words require. It does not own the
 * memory: the owner keeps it mapped until every endpoint over it is closed and no sender names it.
 *
 * <p>A region is backed from the start, or grows: each chunk then gets its memory once, before any of its addresses is
 * published, so every thread that receives an address also sees the chunk.
 *
 * <p>For any thread; {@link #back} by the owner of the memory.
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
            requireUsable(i, chunk);
            final long full = 1L << chunkShift;
            if (chunk.capacity() > full || (i < chunks.length - 1 && chunk.capacity() != full)) {
                throw new IllegalArgumentException("chunk " + i + " has " + chunk.capacity() + " bytes, not " + full);
            }
            this.chunks[i] = chunk.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
            sum += chunk.capacity();
        }
        this.length = sum;
    }

    /** A growing region without backed chunks. The length is a multiple of {@code 1 << chunkShift}. */
    public MemoryRegion(long length, int chunkShift) {
        if (chunkShift < 6 || chunkShift > 30) {
            throw new IllegalArgumentException("chunkShift must be 6 to 30: " + chunkShift);
        }
        final long full = 1L << chunkShift;
        if (length <= 0 || length % full != 0) {
            throw new IllegalArgumentException("length must be a multiple of " + full + ": " + length);
        }
        this.chunks = new ByteBuffer[Math.toIntExact(length >>> chunkShift)];
        this.chunkShift = chunkShift;
        this.chunkMask = full - 1;
        this.length = length;
    }

    /**
     * Backs a chunk of a growing region, once and before any of its addresses is published. The memory may be shorter
     * than a chunk if no address behind its end is ever published.
     */
    public void back(int chunk, ByteBuffer memory) {
        requireUsable(chunk, memory);
        if (chunks[chunk] != null || memory.capacity() > chunkMask + 1) {
            throw new IllegalStateException("chunk " + chunk + " is backed already, or by too much memory");
        }
        chunks[chunk] = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether the chunk of the address has memory. */
    public boolean isBacked(long address) {
        return chunks[(int) (address >>> chunkShift)] != null;
    }

    private static void requireUsable(int index, ByteBuffer chunk) {
        if (!chunk.isDirect() || chunk.alignmentOffset(0, Long.BYTES) != 0) {
            throw new IllegalArgumentException("chunk " + index + " must be direct and 8-byte aligned");
        }
    }

    /** A region of one chunk. */
    public static MemoryRegion of(ByteBuffer buffer) {
        final int shift = Math.max(6, Long.SIZE - Long.numberOfLeadingZeros(buffer.capacity() - 1L));
        return new MemoryRegion(new ByteBuffer[] {buffer}, shift);
    }

    public long length() {
        return length;
    }

    /** The chunk of the address. It is shared: use absolute accessors only. */
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

    /** Whether the range lies within one chunk of the region. */
    public boolean isContiguous(long address, long size) {
        return address >= 0
                && size >= 0
                && address <= length - size
                && (size == 0 || (address >>> chunkShift) == ((address + size - 1) >>> chunkShift));
    }
}
