package org.rowankv.server.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Layout of the value of a COMMIT_VECTOR entry: pairs of (shard, CommitVer), 16 bytes each, little-endian. The entry has
 * no key; its shard and version are 0.
 */
public final class CommitVector {
    private static final int PAIR_LENGTH = 16;
    private static final VarHandle BYTES = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private CommitVector() {}

    public static int length(int pairs) {
        return pairs * PAIR_LENGTH;
    }

    public static void set(byte[] value, int index, int shard, long version) {
        BYTES.set(value, index * PAIR_LENGTH, (long) shard);
        BYTES.set(value, index * PAIR_LENGTH + 8, version);
    }

    public static int count(ByteBuffer entry, int at) {
        return EntryDescriptor.valueLength(entry, at) / PAIR_LENGTH;
    }

    public static int shard(ByteBuffer entry, int at, int index) {
        return (int) (long) EntryDescriptor.LONGS.get(entry, valueAt(entry, at) + index * PAIR_LENGTH);
    }

    public static long version(ByteBuffer entry, int at, int index) {
        return (long) EntryDescriptor.LONGS.get(entry, valueAt(entry, at) + index * PAIR_LENGTH + 8);
    }

    private static int valueAt(ByteBuffer entry, int at) {
        return at
                + EntryDescriptor.headerLength(EntryDescriptor.flags(entry, at))
                + EntryDescriptor.keyLength(entry, at);
    }
}
