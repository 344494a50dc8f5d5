package org.rowankv.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One committed change of one key, as a change stream tells it. The arrays are shared by all who hear of it: nobody writes to
 * them.
 *
 * @param version of the change in its shard: of two changes of a key the later has the higher
 * @param value what is there now; null unless the change created or updated
 * @param oldValue what was there before, if that was asked for and there was something; null also of a change that was decided
 *     before somebody asked for old values, or that the server had to finish after a failure
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record Change(long version, ChangeType type, byte[] key, byte @Nullable [] value, byte @Nullable [] oldValue) {
    /** Bytes of key and values. */
    public long length() {
        return (long) key.length + (value == null ? 0 : value.length) + (oldValue == null ? 0 : oldValue.length);
    }

    /** The same without the old value. */
    public Change withoutOldValue() {
        return oldValue == null ? this : new Change(version, type, key, value, null);
    }
}
