package org.rowankv.rdma;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory that a fabric may land messages in: direct or mapped buffers of equal size, seen as one range of byte
 * addresses.
 *
 * <p>A mapping longer than 2 GiB cannot be one buffer, so an address is split by shift and mask into chunk and offset.
 * The region guarantees little-endian order and 8-byte alignment of each chunk, which the atomic words in it need. It
 * does not own the memory: who mapped it keeps it mapped until every endpoint over it is closed and no sender names
 * it.
 *
 * <p>A region is backed from the start, or grows: then each chunk is given its memory once, before any address in it
 * is handed out, so that whoever learns an address from another thread finds the chunk too.
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

    /** A region that grows: no chunk is backed yet. The length is a multiple of {@code 1 << chunkShift}. */
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
     * Gives a chunk of a growing region its memory, once and before any address in it is handed out. It may be shorter
     * than a chunk if nobody is ever handed an address behind its end.
     */
    public void back(int chunk, ByteBuffer memory) {
        requireUsable(chunk, memory);
        if (chunks[chunk] != null || memory.capacity() > chunkMask + 1) {
            throw new IllegalStateException("chunk " + chunk + " is backed already, or by too much memory");
        }
        chunks[chunk] = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether the chunk that holds the address has memory. */
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
