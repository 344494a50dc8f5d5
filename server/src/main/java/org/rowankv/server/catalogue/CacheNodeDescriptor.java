package org.rowankv.server.catalogue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.CacheLimit;

/**
 * Layout of a cache's node, little endian.
 *
 * <pre>
 *   0  format version                     4
 *   4  checksum, CRC32C of 8 .. end       4
 *   8  cache id                           4
 *  12  state: 1 live, 2 destroyed, 3 spare 4
 *  16  length of the name, in characters  4
 *  20  length of the descriptor           4
 *  24  limit: entries, 0 for any number    8
 *  32  limit: bytes, 0 for any number      8
 *  40  name, UTF-16: any string, also one that UTF-8 cannot hold
 *      descriptor
 * </pre>
 *
 * <p>Version 1, which is still read, has no limits: its name begins at 24.
 */
final class CacheNodeDescriptor {
    static final int FORMAT_VERSION = 2;
    static final int FORMAT_VERSION_WITHOUT_LIMITS = 1;
    static final int LIVE = 1;
    static final int DESTROYED = 2;
    /** Names no cache; its id is destroyed unless a cache has it. */
    static final int SPARE = 3;

    static final int FORMAT_VERSION_OFFSET = 0;
    static final int CHECKSUM_OFFSET = FORMAT_VERSION_OFFSET + Integer.BYTES;
    static final int ID_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;
    static final int STATE_OFFSET = ID_OFFSET + Integer.BYTES;
    static final int NAME_LENGTH_OFFSET = STATE_OFFSET + Integer.BYTES;
    static final int DESCRIPTOR_LENGTH_OFFSET = NAME_LENGTH_OFFSET + Integer.BYTES;
    static final int MAX_ENTRIES_OFFSET = DESCRIPTOR_LENGTH_OFFSET + Integer.BYTES;
    static final int MAX_BYTES_OFFSET = MAX_ENTRIES_OFFSET + Long.BYTES;
    static final int HEADER_LENGTH = MAX_BYTES_OFFSET + Long.BYTES;

    private CacheNodeDescriptor() {}

    static byte[] encode(StoredCache cache, int state) {
        final String name = cache.name();
        final byte[] descriptor = cache.descriptor();
        final ByteBuffer buffer = ByteBuffer.allocate(
                        HEADER_LENGTH + name.length() * Character.BYTES + descriptor.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(FORMAT_VERSION_OFFSET, FORMAT_VERSION)
                .putInt(ID_OFFSET, cache.id())
                .putInt(STATE_OFFSET, state)
                .putInt(NAME_LENGTH_OFFSET, name.length())
                .putInt(DESCRIPTOR_LENGTH_OFFSET, descriptor.length)
                .putLong(MAX_ENTRIES_OFFSET, cache.limit().maxEntries())
                .putLong(MAX_BYTES_OFFSET, cache.limit().maxBytes())
                .position(HEADER_LENGTH);
        for (int i = 0; i < name.length(); i++) {
            buffer.putChar(name.charAt(i));
        }
        buffer.put(descriptor);
        buffer.putInt(CHECKSUM_OFFSET, checksum(buffer));
        return buffer.array();
    }

    /** Why the bytes are not a cache that this version reads, or null. */
    static @Nullable String whyInvalid(byte[] bytes) {
        if (bytes.length < MAX_ENTRIES_OFFSET) {
            return "it has " + bytes.length + " bytes only";
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final int version = buffer.getInt(FORMAT_VERSION_OFFSET);
        if (version != FORMAT_VERSION && version != FORMAT_VERSION_WITHOUT_LIMITS) {
            return "it has format version " + version + ", this version of Rowan-KV reads "
                    + FORMAT_VERSION_WITHOUT_LIMITS + " and " + FORMAT_VERSION
                    + "; use the version that wrote it, or a newer one";
        }
        if (bytes.length < headerLength(buffer)) {
            return "it has " + bytes.length + " bytes only";
        }
        if (buffer.getInt(CHECKSUM_OFFSET) != checksum(buffer)) {
            return "its checksum is wrong";
        }
        final int state = buffer.getInt(STATE_OFFSET);
        if (buffer.getInt(ID_OFFSET) < 1 || state < LIVE || state > SPARE) {
            return "id " + buffer.getInt(ID_OFFSET) + " in state " + state;
        }
        final long name = buffer.getInt(NAME_LENGTH_OFFSET);
        final long descriptor = buffer.getInt(DESCRIPTOR_LENGTH_OFFSET);
        if (name < 0 || descriptor < 0 || headerLength(buffer) + name * Character.BYTES + descriptor != bytes.length) {
            return "its lengths do not add up";
        }
        if (hasLimits(buffer) && (buffer.getLong(MAX_ENTRIES_OFFSET) < 0 || buffer.getLong(MAX_BYTES_OFFSET) < 0)) {
            return "it has a negative limit";
        }
        return null;
    }

    /** Call the readers only if {@link #whyInvalid} is null. */
    static StoredCache cache(byte[] bytes) {
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final char[] name = new char[buffer.getInt(NAME_LENGTH_OFFSET)];
        final byte[] descriptor = new byte[buffer.getInt(DESCRIPTOR_LENGTH_OFFSET)];
        buffer.position(headerLength(buffer));
        for (int i = 0; i < name.length; i++) {
            name[i] = buffer.getChar();
        }
        buffer.get(descriptor);
        final CacheLimit limit = hasLimits(buffer)
                ? new CacheLimit(buffer.getLong(MAX_ENTRIES_OFFSET), buffer.getLong(MAX_BYTES_OFFSET))
                : CacheLimit.NONE;
        return new StoredCache(buffer.getInt(ID_OFFSET), new String(name), descriptor, limit);
    }

    private static boolean hasLimits(ByteBuffer node) {
        return node.getInt(FORMAT_VERSION_OFFSET) != FORMAT_VERSION_WITHOUT_LIMITS;
    }

    private static int headerLength(ByteBuffer node) {
        return hasLimits(node) ? HEADER_LENGTH : MAX_ENTRIES_OFFSET;
    }

    static int state(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(STATE_OFFSET);
    }

    private static int checksum(ByteBuffer buffer) {
        final CRC32C crc = new CRC32C();
        crc.update(buffer.duplicate().clear().position(ID_OFFSET));
        return (int) crc.getValue();
    }
}
