package org.rowankv.protocol;

/** Effect of a change on its key. The ordinals are part of the wire format. */
public enum ChangeType {
    /** There was no object; now there is. */
    CREATED,
    /** A live object was replaced. */
    UPDATED,
    /** A live object was removed by an operation. */
    REMOVED,
    /** An object was found expired, or ended at once by an operation with a zero lifetime. */
    EXPIRED,
    /** An object was evicted, because its cache was above its limit. */
    EVICTED;

    private static final ChangeType[] VALUES = values();

    public static ChangeType of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw new IllegalArgumentException("unknown type of a change: " + code);
        }
        return VALUES[code];
    }

    public static int count() {
        return VALUES.length;
    }

    /** Whether an object exists afterwards. */
    public boolean hasValue() {
        return this == CREATED || this == UPDATED;
    }
}
