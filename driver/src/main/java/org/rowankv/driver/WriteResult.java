package org.rowankv.driver;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;

/**
 * Result of a mutation.
 *
 * @param applied whether it took effect
 * @param version the version it created or, if its condition failed, that of the present object (0: none)
 * @param previousVersion the version of the object it replaced or removed, or 0
 * @param bits a combination of {@link ResultBits}
 * @param previousValue the value it replaced or removed, if requested
 */
@SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
public record WriteResult(
        boolean applied, long version, long previousVersion, int bits, byte @Nullable [] previousValue) {
    public boolean existed() {
        return ResultBits.has(bits, ResultBits.EXISTED);
    }
}
