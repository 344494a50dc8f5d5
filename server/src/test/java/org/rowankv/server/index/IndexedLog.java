package org.rowankv.server.index;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

/** Entries in memory for an index to point to: for each key a few, at different addresses. Read-only once created. */
final class IndexedLog {
    static final int CACHE = 5;

    private final MemoryRegion region;
    private final long[] positions;
    private final byte[][] keys;
    private final int versions;

    /** @param positions of the keys in their shard; the key's number is its index here */
    IndexedLog(long[] positions, int versions) {
        this.positions = positions.clone();
        this.versions = versions;
        this.keys = new byte[positions.length][];
        final int bytes = EntryDescriptor.STRIDE * (1 + positions.length * versions);
        this.region = MemoryRegion.of(ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN));
        for (int key = 0; key < positions.length; key++) {
            keys[key] = Integer.toString(key, 36).getBytes(StandardCharsets.ISO_8859_1);
            for (int version = 0; version < versions; version++) {
                final EntryDraft draft = new EntryDraft()
                        .begin(EntryType.PUT, 0, CACHE)
                        .version(version + 1)
                        .key(keys[key], 0, keys[key].length)
                        .expiryMs(expiryMs(key, version));
                assert EntryDescriptor.aligned((int) draft.usedLength()) == EntryDescriptor.STRIDE;
                draft.writeBody(region.buffer(address(key, version)), region.offset(address(key, version)));
            }
        }
    }

    MemoryRegion region() {
        return region;
    }

    int keys() {
        return keys.length;
    }

    long position(int key) {
        return positions[key];
    }

    long address(int key, int version) {
        return EntryDescriptor.STRIDE * (1L + (long) key * versions + version);
    }

    /** The expiry of that object: never for each key's first one, within twenty seconds for the others. */
    static long expiryMs(int key, int version) {
        return version == 0 ? Long.MAX_VALUE : 1 + (key * 7919L + version * 104_729L) % 20_000;
    }

    long expiryMsAt(long address) {
        return expiryMs(keyAt(address), (int) ((address / EntryDescriptor.STRIDE - 1) % versions));
    }

    /** The key whose entry lies at the address. */
    int keyAt(long address) {
        return (int) ((address / EntryDescriptor.STRIDE - 1) / versions);
    }

    long find(ShardIndex index, int key) {
        return index.find(positions[key], CACHE, keys[key], 0, keys[key].length);
    }

    long findByEntry(ShardIndex index, int key, int version) {
        final long address = address(key, version);
        return index.findKeyOf(positions[key], region.buffer(address), region.offset(address));
    }
}
