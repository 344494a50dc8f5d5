package org.rowankv.protocol;

/** What a change did to its key. The ordinals are part of the format on the wire. */
public enum ChangeType {
    /** There was no object; now there is. */
    CREATED,
    /** A live object was replaced. */
    UPDATED,
    /** A live object was removed, by somebody who asked for that. */
    REMOVED,
    /** An object's lifetime was found over, or was ended at once by whoever gave it none. */
    EXPIRED,
    /** An object was ended because its cache was above its limit. */
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

    /** Whether an object is there afterwards. */
    public boolean hasValue() {
        return this == CREATED || this == UPDATED;
    }
}
