package org.rowankv.check.area;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.directory.Damage;
import org.rowankv.server.inspect.AreaWalk;
import org.rowankv.server.inspect.StoredEntry;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;

/**
 * Reads one server's area without index, digest or recovery: every valid entry of every segment in use, and entries that
 * exist in blocks only: an independent reading to compare the engine with. Used by one thread, on a closed store.
 *
 * <p>Entries come in no order that means anything; of two of a key the one with the larger version counts. Entries of
 * an older tenure are void and left out, and so is what is damaged or torn.
 */
final class AreaReader {
    /** Receives the entries; the arrays are its own. */
    @FunctionalInterface
    interface Visitor {
        /**
         * @param version of the entry
         * @param objectVersion by which clients know the object: the entry's own unless it is a touch
         */
        void onEntry(int type, int shard, long version, long objectVersion, int cacheId, byte[] key, byte[] value);
    }

    private final AreaImage area;

    private AreaReader(AreaImage area) {
        this.area = area;
    }

    static AreaReader open(Path directory, int server) {
        return new AreaReader(AreaImage.open(directory, server));
    }

    /** Hands over every entry that is not void. */
    void forEachEntry(Visitor visitor) {
        AreaWalk.walk(area, new AreaWalk.Visitor() {
            @Override
            public void onEntry(StoredEntry entry, ByteBuffer buffer, int at) {
                if (entry.isVoid() || entry.type() == EntryType.BLOCK || entry.type() == EntryType.COMMIT_VECTOR) {
                    return;
                }
                final byte[] value = new byte[entry.valueLength()];
                buffer.get(at + EntryDescriptor.headerLength(entry.flags()) + entry.key().length, value);
                visitor.onEntry(
                        entry.type(),
                        entry.shard(),
                        entry.version(),
                        entry.objectVersion(),
                        entry.cacheId(),
                        entry.key(),
                        value);
            }

            @Override
            public void onDamage(Damage damage) {
                // Left out: the comparison reports missing entries.
            }
        });
    }
}
