package org.rowankv.protocol;

/** Observations and effects of an operation; exact, so that a client can derive statistics and events. */
public final class ResultBits {
    /** A live object of the key existed before the operation. */
    public static final int EXISTED = 1;
    /** The operation created an object where none was. */
    public static final int CREATED = 1 << 1;
    /** The operation replaced a live object. */
    public static final int UPDATED = 1 << 2;
    /** The operation removed a live object. */
    public static final int REMOVED = 1 << 3;
    /** The operation found the object expired and logged its expiry; {@code result} contains it if requested. */
    public static final int EXPIRED = 1 << 4;
    /** The object to store had no lifetime ({@link Ttl#IMMEDIATE}), so it was not stored. */
    public static final int BORN_EXPIRED = 1 << 5;
    /** The remaining lifetime was changed. */
    public static final int TOUCHED = 1 << 6;
    /** The response was rebuilt from a completion: an earlier attempt had been applied. */
    public static final int REPLAYED = 1 << 7;
    /** The object was evicted, because its cache was above its limit: only the log contains this bit. */
    public static final int EVICTED = 1 << 8;

    /** The entry holds a {@link PartList} instead of the object's value: only the log contains this bit. */
    public static final int IN_PARTS = 1 << 9;

    /**
     * Of CORRUPTED: the server is about to take the entry from another replica, unless none has it. A retry may succeed.
     * Only an answer contains this bit.
     */
    public static final int REPAIRABLE = 1 << 10;

    private ResultBits() {}

    public static boolean has(int bits, int bit) {
        return (bits & bit) != 0;
    }
}
