package org.rowankv.server.log;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The entry that a worker is about to write: all fields, the arrays of key, value and old value, and the header buffer.
 * Owned by one thread at a time; reused, so that writing allocates nothing.
 */
public final class EntryDraft {
    private static final byte[] NO_BYTES = new byte[0];

    private final byte[] scratch = new byte[EntryDescriptor.MAX_HEADER_LENGTH];
    private final ByteBuffer header = ByteBuffer.wrap(scratch).order(ByteOrder.LITTLE_ENDIAN);
    private final CRC32C crc = new CRC32C();

    private int type;
    private long version;
    private int presence;
    private int resultBits;
    private int shard;
    private int cacheId;
    private long sessionId;
    private long sequence;
    private int unanswered;
    private long previousVersion;
    private long expiryMs;
    private long objectVersion;
    private byte[] key = NO_BYTES;
    private int keyOffset;
    private int keyLength;
    private byte[] value = NO_BYTES;
    private int valueOffset;
    private int valueLength;
    private byte[] oldValue = NO_BYTES;
    private int oldValueLength;

    public EntryDraft begin(int entryType, int shardId, int cache) {
        type = entryType;
        version = 0;
        presence = 0;
        resultBits = 0;
        shard = shardId;
        cacheId = cache;
        key = NO_BYTES;
        keyOffset = 0;
        keyLength = 0;
        value = NO_BYTES;
        valueOffset = 0;
        valueLength = 0;
        oldValue = NO_BYTES;
        oldValueLength = 0;
        return this;
    }

    public EntryDraft key(byte[] bytes, int offset, int length) {
        key = bytes;
        keyOffset = offset;
        keyLength = length;
        return this;
    }

    public EntryDraft value(byte[] bytes, int offset, int length) {
        value = bytes;
        valueOffset = offset;
        valueLength = length;
        return this;
    }

    public EntryDraft oldValue(byte[] bytes, int length) {
        presence |= EntryDescriptor.HAS_OLD_VALUE;
        oldValue = bytes;
        oldValueLength = length;
        return this;
    }

    /** A zero session id means that no retry is possible: no request id is stored. */
    public EntryDraft request(long session, long sequenceNumber, int unansweredBefore) {
        if (session != 0) {
            presence |= EntryDescriptor.HAS_REQUEST;
            sessionId = session;
            sequence = sequenceNumber;
            unanswered = unansweredBefore;
        }
        return this;
    }

    public EntryDraft resultBits(int bits) {
        resultBits = bits;
        return this;
    }

    public EntryDraft previousVersion(long previous) {
        if (previous != 0) {
            presence |= EntryDescriptor.HAS_PREVIOUS;
            previousVersion = previous;
        }
        return this;
    }

    /** {@link Long#MAX_VALUE}: never. */
    public EntryDraft expiryMs(long expiry) {
        if (expiry != Long.MAX_VALUE) {
            presence |= EntryDescriptor.HAS_EXPIRY;
            expiryMs = expiry;
        }
        return this;
    }

    public EntryDraft objectVersion(long object) {
        presence |= EntryDescriptor.HAS_OBJECT_VERSION;
        objectVersion = object;
        return this;
    }

    /** No space is acquired for it: a backup takes what it needs unconditionally. */
    public EntryDraft withoutSpace() {
        presence |= EntryDescriptor.WITHOUT_SPACE;
        return this;
    }

    public EntryDraft version(long newVersion) {
        version = newVersion;
        return this;
    }

    public int type() {
        return type;
    }

    public long version() {
        return version;
    }

    /** 0 for an entry without a cache. */
    public int cacheId() {
        return cacheId;
    }

    /** Without padding; as a long, since three arrays may add up to more than an int. */
    public long usedLength() {
        return (long) EntryDescriptor.headerLength(presence) + keyLength + valueLength + oldValueLength;
    }

    /**
     * Of a new object: the longest entry that may have to hold it later, including the fields of a touch or a removal.
     */
    public long longestSuccessor() {
        return type == EntryType.PUT ? (long) EntryDescriptor.MAX_HEADER_LENGTH + keyLength + valueLength : 0;
    }

    /** Writes the body, from the frame's end on, and returns its crc. */
    public int writeBody(ByteBuffer buffer, int at) {
        final int flags = EntryDescriptor.flags(presence, resultBits);
        final int headerLength = EntryDescriptor.headerLength(presence);
        EntryDescriptor.header(header, 0, version, flags, shard, cacheId, keyLength, valueLength);
        if ((presence & EntryDescriptor.HAS_REQUEST) != 0) {
            EntryDescriptor.request(header, 0, sessionId, sequence, unanswered);
        }
        if ((presence & EntryDescriptor.HAS_PREVIOUS) != 0) {
            EntryDescriptor.previousVersion(header, 0, flags, previousVersion);
        }
        if ((presence & EntryDescriptor.HAS_EXPIRY) != 0) {
            EntryDescriptor.expiryMs(header, 0, flags, expiryMs);
        }
        if ((presence & EntryDescriptor.HAS_OBJECT_VERSION) != 0) {
            EntryDescriptor.objectVersion(header, 0, flags, objectVersion);
        }
        if ((presence & EntryDescriptor.HAS_OLD_VALUE) != 0) {
            EntryDescriptor.oldValueLength(header, 0, flags, oldValueLength);
        }
        final int bodyHeader = headerLength - EntryDescriptor.FRAME_LENGTH;
        crc.reset();
        crc.update(scratch, EntryDescriptor.FRAME_LENGTH, bodyHeader);
        crc.update(key, keyOffset, keyLength);
        crc.update(value, valueOffset, valueLength);
        int to = at + EntryDescriptor.FRAME_LENGTH;
        buffer.put(to, scratch, EntryDescriptor.FRAME_LENGTH, bodyHeader);
        to += bodyHeader;
        buffer.put(to, key, keyOffset, keyLength);
        to += keyLength;
        buffer.put(to, value, valueOffset, valueLength);
        if (oldValueLength > 0) {
            crc.update(oldValue, 0, oldValueLength);
            buffer.put(to + valueLength, oldValue, 0, oldValueLength);
        }
        return (int) crc.getValue();
    }

    /** Drops the references to the caller's arrays, so that they can be collected. */
    public void end() {
        key = NO_BYTES;
        value = NO_BYTES;
        oldValue = NO_BYTES;
    }
}
