package org.rowankv.protocol;

/** What a mutation or read met and did; exact, so that a client can keep statistics and fire events from them. */
public final class ResultBits {
    /** A live object of the key existed before the operation. */
    public static final int EXISTED = 1;
    /** The operation created an object where none was. */
    public static final int CREATED = 1 << 1;
    /** The operation replaced a live object. */
    public static final int UPDATED = 1 << 2;
    /** The operation removed a live object. */
    public static final int REMOVED = 1 << 3;
    /** The operation found the object's lifetime over and logged its expiry; {@code result} holds it if wanted. */
    public static final int EXPIRED = 1 << 4;
    /** The object to store had no lifetime ({@link Ttl#IMMEDIATE}), so it was not stored. */
    public static final int BORN_EXPIRED = 1 << 5;
    /** The remaining lifetime was changed. */
    public static final int TOUCHED = 1 << 6;
    /** The answer was rebuilt from a completion: an earlier attempt had been applied. */
    public static final int REPLAYED = 1 << 7;
    /** The object was ended because its cache was above its limit: nobody asked for that, only the log tells. */
    public static final int EVICTED = 1 << 8;

    private ResultBits() {}

    public static boolean has(int bits, int bit) {
        return (bits & bit) != 0;
    }
}
