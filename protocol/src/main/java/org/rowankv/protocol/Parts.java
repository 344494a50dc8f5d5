package org.rowankv.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The parts of values that are larger than an entry: objects beside those of a cache, under keys of their own. Scans, change
 * streams and evictions of the cache do not see them; its clears and byte counts include them.
 *
 * <p>A part's cache id is that of its cache with bit 30 set. Its key, little-endian:
 *
 * <pre>
 *   0        8        12     16
 *   +--------+--------+------+
 *   | id     | number | salt |
 *   +--------+--------+------+
 * </pre>
 *
 * <p>The id names the value; the salt moves the key into the value's shard ({@link org.rowankv.topology.PartKeys}).
 */
public final class Parts {
    /** Bytes of a part's key. */
    public static final int KEY_LENGTH = 16;

    private static final int BIT = 1 << 30;

    private Parts() {}

    /** The cache id of the parts of a cache. */
    public static int of(int cacheId) {
        return cacheId | BIT;
    }

    /** Whether it is the id of parts. False for a negative number, and for parts of 0, which are no ids. */
    public static boolean isParts(int cacheId) {
        return cacheId > BIT;
    }

    /** The id of the cache that an object or part belongs to; a number that is no id stays none. */
    public static int cacheOf(int cacheId) {
        return isParts(cacheId) ? cacheId ^ BIT : cacheId;
    }

    /** The key of a part. */
    public static byte[] key(long id, int number, int salt) {
        final ByteBuffer key = ByteBuffer.allocate(KEY_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        return key.putLong(id).putInt(number).putInt(salt).array();
    }

    /** The id in the key of a part. */
    public static long id(ByteBuffer key, int at) {
        return key.getLong(at);
    }

    /** The number in the key of a part. */
    public static int number(ByteBuffer key, int at) {
        return key.getInt(at + Long.BYTES);
    }
}
