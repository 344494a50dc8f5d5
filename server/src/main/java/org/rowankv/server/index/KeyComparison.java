package org.rowankv.server.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.log.EntryDescriptor;

/**
 * Compares a key with that of an entry in the log, eight bytes at a time. The entry may be garbage, since its segment
 * may be reused meanwhile. So its lengths are only compared, never used to address memory.
 */
final class KeyComparison {
    private static final VarHandle HEAP = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LOG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private KeyComparison() {}

    static boolean isKey(MemoryRegion region, long address, int cacheId, byte[] key, int keyOffset, int keyLength) {
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        if (EntryDescriptor.keyLength(buffer, at) != keyLength || EntryDescriptor.cacheId(buffer, at) != cacheId) {
            return false;
        }
        int from = at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at));
        if (from + keyLength > buffer.capacity()) {
            return false;
        }
        int i = keyOffset;
        final int end = keyOffset + keyLength;
        for (; i + Long.BYTES <= end; i += Long.BYTES, from += Long.BYTES) {
            if ((long) HEAP.get(key, i) != (long) LOG.get(buffer, from)) {
                return false;
            }
        }
        for (; i < end; i++, from++) {
            if (key[i] != buffer.get(from)) {
                return false;
            }
        }
        return true;
    }

    static boolean isKeyOf(MemoryRegion region, long address, @Nullable ByteBuffer entry, int entryAt) {
        if (entry == null) {
            return false;
        }
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final int keyLength = EntryDescriptor.keyLength(entry, entryAt);
        if (EntryDescriptor.keyLength(buffer, at) != keyLength
                || EntryDescriptor.cacheId(buffer, at) != EntryDescriptor.cacheId(entry, entryAt)) {
            return false;
        }
        int from = at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at));
        int i = entryAt + EntryDescriptor.headerLength(EntryDescriptor.flags(entry, entryAt));
        final int end = i + keyLength;
        if (from + keyLength > buffer.capacity() || end > entry.capacity()) {
            return false;
        }
        for (; i + Long.BYTES <= end; i += Long.BYTES, from += Long.BYTES) {
            if ((long) LOG.get(entry, i) != (long) LOG.get(buffer, from)) {
                return false;
            }
        }
        for (; i < end; i++, from++) {
            if (entry.get(i) != buffer.get(from)) {
                return false;
            }
        }
        return true;
    }
}
