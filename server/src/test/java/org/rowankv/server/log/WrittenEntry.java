package org.rowankv.server.log;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.rowankv.rdma.rowan.FrameDescriptor;

/** An entry with random fields, and the expectation of a reader. */
record WrittenEntry(
        long address,
        int length,
        int type,
        int shard,
        long version,
        int cacheId,
        byte[] key,
        byte[] value,
        byte[] oldValue,
        int flags,
        long sessionId,
        long sequence,
        int unanswered,
        long previousVersion,
        long expiryMs,
        long objectVersion,
        int tag,
        int stamp) {

    /** Draws the fields of an entry for the address; {@code value} is given. */
    static WrittenEntry draw(Random random, long address, byte[] value) {
        final int type = random.nextBoolean() ? EntryType.PUT : 1 + random.nextInt(EntryType.COMPLETION);
        final boolean request = random.nextBoolean();
        final boolean previous = random.nextBoolean();
        final boolean expires = random.nextInt(4) == 0;
        final boolean touched = random.nextInt(4) == 0;
        final byte[] old = random.nextInt(4) == 0 ? bytes(random, random.nextInt(200)) : null;
        final byte[] key = bytes(random, random.nextInt(60));
        int presence = 0;
        presence |= request ? EntryDescriptor.HAS_REQUEST : 0;
        presence |= previous ? EntryDescriptor.HAS_PREVIOUS : 0;
        presence |= expires ? EntryDescriptor.HAS_EXPIRY : 0;
        presence |= touched ? EntryDescriptor.HAS_OBJECT_VERSION : 0;
        presence |= old != null ? EntryDescriptor.HAS_OLD_VALUE : 0;
        final int used =
                EntryDescriptor.headerLength(presence) + key.length + value.length + (old == null ? 0 : old.length);
        final long version = random.nextLong();
        return new WrittenEntry(
                address,
                EntryDescriptor.aligned(used),
                type,
                random.nextInt(1 << 16),
                version,
                random.nextInt(),
                key,
                value,
                old,
                EntryDescriptor.flags(presence, random.nextInt(256)),
                request ? random.nextLong() | 1 : 0,
                request ? random.nextLong() & EntryDescriptor.MAX_SEQUENCE : 0,
                request ? random.nextInt(EntryDescriptor.MAX_UNANSWERED) : 0,
                previous ? random.nextLong() | 1 : 0,
                expires ? random.nextLong() >>> 2 : Long.MAX_VALUE,
                touched ? random.nextLong() : version,
                random.nextInt(),
                random.nextInt());
    }

    static byte[] bytes(Random random, int length) {
        final byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    EntryDraft draft() {
        final EntryDraft draft = new EntryDraft()
                .begin(type, shard, cacheId)
                .version(version)
                .key(key, 0, key.length)
                .value(value, 0, value.length)
                .request(sessionId, sequence, unanswered)
                .previousVersion(previousVersion)
                .expiryMs(expiryMs)
                .resultBits(EntryDescriptor.resultBits(flags));
        if ((flags & EntryDescriptor.HAS_OBJECT_VERSION) != 0) {
            draft.objectVersion(objectVersion);
        }
        return oldValue == null ? draft : draft.oldValue(oldValue, oldValue.length);
    }

    /** Whether a reader finds exactly this entry there. */
    boolean isAt(ByteBuffer buffer, int at, long foundAddress, int foundType, int foundLength) {
        final int found = EntryDescriptor.flags(buffer, at);
        final int keyAt = at + EntryDescriptor.headerLength(found);
        return foundAddress == address
                && foundType == type
                && foundLength == length
                && found == flags
                && EntryDescriptor.version(buffer, at) == version
                && EntryDescriptor.shard(buffer, at) == shard
                && EntryDescriptor.cacheId(buffer, at) == cacheId
                && EntryDescriptor.sessionId(buffer, at, found) == sessionId
                && EntryDescriptor.sequence(buffer, at, found) == sequence
                && EntryDescriptor.unanswered(buffer, at, found) == unanswered
                && EntryDescriptor.previousVersion(buffer, at, found) == previousVersion
                && EntryDescriptor.expiryMs(buffer, at, found) == expiryMs
                && EntryDescriptor.objectVersion(buffer, at, found) == objectVersion
                && EntryDescriptor.oldValueLength(buffer, at, found) == (oldValue == null ? -1 : oldValue.length)
                && FrameDescriptor.tag(buffer, at) == tag
                && FrameDescriptor.stamp(buffer, at) == stamp
                && Arrays.equals(read(buffer, keyAt, key.length), key)
                && Arrays.equals(read(buffer, keyAt + key.length, value.length), value)
                && (oldValue == null
                        || Arrays.equals(read(buffer, keyAt + key.length + value.length, oldValue.length), oldValue));
    }

    private static byte[] read(ByteBuffer buffer, int at, int length) {
        final byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return bytes;
    }
}
