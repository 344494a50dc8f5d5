package org.rowankv.driver;

import org.jspecify.annotations.Nullable;

/**
 * A value with the version it was read at. When the key has no object, {@code value} is null and {@code version} is good
 * for {@link org.rowankv.protocol.Condition#IF_ABSENT_SINCE}.
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record VersionedValue(byte @Nullable [] value, long version) {
    public boolean isPresent() {
        return value != null;
    }
}
