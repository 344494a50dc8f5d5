package org.rowankv.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One committed change of one key in a change stream. All receivers share the arrays and must not write to them.
 *
 * @param version of the change in its shard; grows with each change of a key
 * @param value the new value; null unless the change created or updated
 * @param oldValue the old value, if requested and present; null also for a change that was decided before the first
 *     request for old values, or that the server completed after a failure; or if the old value was in parts
 * @param inParts whether {@code value} is the {@link PartList} of the value
 */
@SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
public record Change(
        long version,
        ChangeType type,
        byte[] key,
        byte @Nullable [] value,
        byte @Nullable [] oldValue,
        boolean inParts) {
    public Change(long version, ChangeType type, byte[] key, byte @Nullable [] value, byte @Nullable [] oldValue) {
        this(version, type, key, value, oldValue, false);
    }

    /** The same with the value instead of the list of its parts. */
    public Change whole(byte[] wholeValue) {
        return new Change(version, type, key, wholeValue, oldValue, false);
    }

    /** Bytes of key and values. */
    public long length() {
        return (long) key.length + (value == null ? 0 : value.length) + (oldValue == null ? 0 : oldValue.length);
    }

    /** The same without the old value. */
    public Change withoutOldValue() {
        return oldValue == null ? this : new Change(version, type, key, value, null, inParts);
    }
}
