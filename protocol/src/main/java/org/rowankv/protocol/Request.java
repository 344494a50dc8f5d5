package org.rowankv.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A request and, after the call, its response: a reusable holder, so that an operation allocates nothing. Used by one
 * thread at a time.
 *
 * <p>The byte arrays given are read during the call only and never kept. {@link #result()} contains the response's
 * bytes, from 0 to {@link #resultLength()}, until the next use of this object; the array grows as needed and is reused.
 */
public final class Request {
    private static final byte[] NO_BYTES = new byte[0];
    private static final byte[] DESTROYED = {1};

    // --- the request ---
    private Operation operation = Operation.GET;
    private Condition condition = Condition.ALWAYS;
    private int cacheId;
    private byte[] key = NO_BYTES;
    private int keyOffset;
    private int keyLength;
    private byte[] value = NO_BYTES;
    private int valueOffset;
    private int valueLength;
    private long expectedVersion;
    private long createTtlMs = Ttl.ETERNAL;
    private long updateTtlMs = Ttl.UNCHANGED;
    private long accessTtlMs = Ttl.UNCHANGED;
    private boolean needsValue;
    private boolean needsLocation;
    private boolean needsExpiry;
    private boolean inParts;
    private int shard;
    private long hash;

    // --- the requester ---
    private long sessionId;
    private long sequence;
    private int unanswered;
    private long connection;

    // --- the response ---
    private Status status = Status.OK;
    private int bits;
    private long version;
    private long previousVersion;
    private byte[] result = new byte[256];
    private int resultLength;

    // --- where a read has found the object ---
    private long foundAddress;
    private long foundUse;
    private long foundVersion;
    private long foundExpiryMs;

    /** Starts a request; everything not set afterwards has its default and the former answer is forgotten. */
    private Request begin(Operation newOperation, int newCacheId) {
        operation = newOperation;
        cacheId = newCacheId;
        condition = Condition.ALWAYS;
        key = NO_BYTES;
        keyOffset = 0;
        keyLength = 0;
        value = NO_BYTES;
        valueOffset = 0;
        valueLength = 0;
        expectedVersion = 0;
        createTtlMs = Ttl.ETERNAL;
        updateTtlMs = Ttl.ETERNAL;
        accessTtlMs = Ttl.UNCHANGED;
        needsValue = false;
        needsLocation = false;
        needsExpiry = false;
        inParts = false;
        shard = -1;
        hash = 0;
        sessionId = 0;
        sequence = 0;
        unanswered = 0;
        connection = 0;
        clearAnswer();
        return this;
    }

    /** Reads the value; see {@link #requestValue} for a read of the version alone. */
    public Request get(int cache, byte[] bytes, int offset, int length) {
        begin(Operation.GET, cache).key(bytes, offset, length);
        needsValue = true;
        return this;
    }

    /** Writes a value; by default unconditionally, eternal, and without returning what it replaced. */
    public Request put(
            int cache, byte[] keyBytes, int keyFrom, int keyLen, byte[] valueBytes, int valueFrom, int valueLen) {
        begin(Operation.PUT, cache).key(keyBytes, keyFrom, keyLen);
        java.util.Objects.checkFromIndexSize(valueFrom, valueLen, valueBytes.length);
        value = valueBytes;
        valueOffset = valueFrom;
        valueLength = valueLen;
        return this;
    }

    /** Removes an object; by default unconditionally and without returning it. */
    public Request delete(int cache, byte[] bytes, int offset, int length) {
        return begin(Operation.DELETE, cache).key(bytes, offset, length);
    }

    /** Gives the object of that version a new remaining lifetime, in milliseconds. */
    public Request touch(int cache, byte[] bytes, int offset, int length, long objectVersion, long ttlMs) {
        begin(Operation.TOUCH, cache).key(bytes, offset, length).when(Condition.IF_VERSION, objectVersion);
        accessTtlMs = ttlMs;
        return this;
    }

    /** Removes all objects of the cache in one shard. */
    public Request clear(int cache, int shardId) {
        begin(Operation.CLEAR, cache);
        shard = shardId;
        return this;
    }

    /** As {@link #clear}; afterwards the cache id is refused in this shard. */
    public Request destroy(int cache, int shardId) {
        clear(cache, shardId);
        value = DESTROYED;
        valueLength = DESTROYED.length;
        return this;
    }

    /**
     * Opens a session at a shard. The shard refuses the opening if it may be a late copy: the session may have been opened and
     * closed since.
     *
     * @param asOf the newest version of the shard that the client has; 0 if it has none. See {@link #asOf}
     */
    public Request openSession(int shardId, long session, long asOf) {
        begin(Operation.OPEN_SESSION, 0);
        shard = shardId;
        sessionId = session;
        expectedVersion = asOf;
        return this;
    }

    public Request closeSession(int shardId, long session) {
        begin(Operation.CLOSE_SESSION, 0);
        shard = shardId;
        sessionId = session;
        return this;
    }

    private Request key(byte[] bytes, int offset, int length) {
        java.util.Objects.checkFromIndexSize(offset, length, bytes.length);
        key = bytes;
        keyOffset = offset;
        keyLength = length;
        return this;
    }

    public Request when(Condition newCondition, long version) {
        condition = newCondition;
        expectedVersion = version;
        return this;
    }

    public Request when(Condition newCondition) {
        return when(newCondition, 0);
    }

    /**
     * Lifetimes in milliseconds, as in {@link Ttl}: for an object that the operation creates, and for one it replaces.
     */
    public Request ttl(long createMs, long updateMs) {
        createTtlMs = createMs;
        updateTtlMs = updateMs;
        return this;
    }

    /** The new remaining lifetime of an object that is read, or met by a conditional operation that fails on it. */
    public Request accessTtl(long accessMs) {
        accessTtlMs = accessMs;
        return this;
    }

    /**
     * Whether the answer carries bytes: for a read the value; for a mutation the value it replaced, removed, found
     * expired, or that made its condition fail.
     */
    public Request requestValue(boolean needed) {
        needsValue = needed;
        return this;
    }

    /** Whether a server in this process shall say where a read has found the object: {@link #isFound}. */
    public Request requestLocation(boolean needed) {
        needsLocation = needed;
        return this;
    }

    /** Whether the answer to this GET has {@link #expiryMs}. */
    public Request requestExpiry(boolean needed) {
        needsExpiry = needed;
        return this;
    }

    /** Whether the value of this PUT is a {@link PartList}, whose parts are there. */
    public Request inParts(boolean areParts) {
        inParts = areParts;
        return this;
    }

    /** Set by the client: the key's hash and shard. */
    public void placed(long keyHash, int shardId) {
        hash = keyHash;
        shard = shardId;
    }

    /**
     * Set by the client: the request id. {@code unanswered} is sequence minus the session's smallest sequence that has
     * no answer yet, 0 .. 511.
     */
    public void identified(long session, long sequenceNumber, int unansweredBefore) {
        sessionId = session;
        sequence = sequenceNumber;
        unanswered = unansweredBefore;
    }

    /** Set by the server: the client connection of the request, ≥ 1; 0 for a caller in the server's process. */
    public void arrivedOn(long newConnection) {
        connection = newConnection;
    }

    public long connection() {
        return connection;
    }

    public Operation operation() {
        return operation;
    }

    public Condition condition() {
        return condition;
    }

    public int cacheId() {
        return cacheId;
    }

    public byte[] key() {
        return key;
    }

    public int keyOffset() {
        return keyOffset;
    }

    public int keyLength() {
        return keyLength;
    }

    public byte[] value() {
        return value;
    }

    public int valueOffset() {
        return valueOffset;
    }

    public int valueLength() {
        return valueLength;
    }

    public long expectedVersion() {
        return expectedVersion;
    }

    /**
     * Of an OPEN_SESSION: a version that the shard had given out before the client sent the first copy of the request. A refusal
     * (SESSION_EXPIRED) carries a newer one as its {@link #version()}, an opened session's answer too.
     */
    public long asOf() {
        return expectedVersion;
    }

    public long createTtlMs() {
        return createTtlMs;
    }

    public long updateTtlMs() {
        return updateTtlMs;
    }

    public long accessTtlMs() {
        return accessTtlMs;
    }

    public boolean needsValue() {
        return needsValue;
    }

    public boolean needsLocation() {
        return needsLocation;
    }

    public boolean needsExpiry() {
        return needsExpiry;
    }

    public boolean isInParts() {
        return inParts;
    }

    public int shard() {
        return shard;
    }

    public long hash() {
        return hash;
    }

    public long sessionId() {
        return sessionId;
    }

    public long sequence() {
        return sequence;
    }

    public int unanswered() {
        return unanswered;
    }

    // --- the response ---

    /** For the session that answers. */
    public void clearAnswer() {
        answer(Status.OK, 0, 0, 0);
        resultLength = -1;
    }

    /** For the session that answers. */
    public void answer(Status newStatus, int newBits, long newVersion, long newPreviousVersion) {
        status = newStatus;
        bits = newBits;
        version = newVersion;
        previousVersion = newPreviousVersion;
        foundUse = 0;
    }

    /** For the session: what came of an attempt that brought no answer. */
    public void fail(Status why) {
        noResult();
        answer(why, 0, 0, 0);
    }

    /** For the session that answers: room for {@code length} bytes of result, at index 0 of the array returned. */
    public byte[] resultOf(int length) {
        if (result.length < length) {
            result = new byte[Math.max(length, Math.min(2 * result.length, Integer.MAX_VALUE - 8))];
        }
        resultLength = length;
        return result;
    }

    /** For the client: the whole array is the result. */
    public void result(byte[] whole) {
        result = whole;
        resultLength = whole.length;
    }

    /** For the session that answers: takes back what {@link #resultOf} announced. */
    public void noResult() {
        resultLength = -1;
    }

    /**
     * For a server that has answered a read from its log; after {@link #answer}.
     *
     * @param address of the entry
     * @param use number of the use of its segment, ≥ 1
     * @param entryVersion of the entry, which after a touch is newer than the object's
     * @param expiryMs end of the lifetime by the server's clock, or {@link Long#MAX_VALUE}
     */
    public void found(long address, long use, long entryVersion, long expiryMs) {
        foundAddress = address;
        foundUse = use;
        foundVersion = entryVersion;
        foundExpiryMs = expiryMs;
    }

    /** Whether a server in this process has said where the object lies: then the values below are valid. */
    public boolean isFound() {
        return foundUse != 0;
    }

    public long foundAddress() {
        return foundAddress;
    }

    public long foundUse() {
        return foundUse;
    }

    public long foundVersion() {
        return foundVersion;
    }

    public long foundExpiryMs() {
        return foundExpiryMs;
    }

    public Status status() {
        return status;
    }

    /** A combination of {@link ResultBits}. */
    public int bits() {
        return bits;
    }

    public boolean has(int bit) {
        return ResultBits.has(bits, bit);
    }

    /** Whether it met a damaged entry, which had no effect, and which another replica's may soon replace. */
    public boolean mayBeRepaired() {
        return status == Status.CORRUPTED && has(ResultBits.REPAIRABLE);
    }

    /**
     * Of a read: the version of the object, or, of a read that found nothing, a version to give to
     * {@link Condition#IF_ABSENT_SINCE}. Of a mutation that took effect: the version it made; of one whose condition
     * failed: the version of the object that is there, or 0.
     */
    public long version() {
        return version;
    }

    /**
     * Of a mutation that took effect: the version of the object it replaced or removed, or 0. Where {@link ResultBits#EXISTED} is set
     * as well, 0 says that it is not known: what was there is damaged.
     */
    public long previousVersion() {
        return previousVersion;
    }

    /**
     * Of a GET with {@link #requestExpiry} that has found an object: the end of the lifetime that it had, by the server's
     * clock, in milliseconds, or {@link Long#MAX_VALUE}.
     */
    public long expiryMs() {
        return previousVersion; // reads have no previous version
    }

    public boolean hasResult() {
        return resultLength >= 0;
    }

    public byte[] result() {
        return result;
    }

    /** Length of the result, or −1 when there is none. */
    public int resultLength() {
        return resultLength;
    }

    /** A copy of the result, or null when there is none. */
    public byte @Nullable [] resultBytes() {
        return resultLength < 0 ? null : java.util.Arrays.copyOf(result, resultLength);
    }
}
