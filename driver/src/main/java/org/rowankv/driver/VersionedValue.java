package org.rowankv.driver;

import org.jspecify.annotations.Nullable;

/**
 * A value and the version it was read at. If the key has no object, {@code value} is null and {@code version} is valid
 * for {@link org.rowankv.protocol.Condition#IF_ABSENT_SINCE}.
 */
@SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
public record VersionedValue(byte @Nullable [] value, long version) {
    public boolean isPresent() {
        return value != null;
    }
}
