package org.rowankv.driver;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;

/**
 * What a mutation did.
 *
 * @param applied whether it took effect
 * @param version the version it made or, when its condition failed, that of the object which is there (0: none)
 * @param previousVersion the version of the object it replaced or removed, or 0
 * @param bits a combination of {@link ResultBits}
 * @param previousValue what it replaced or removed, if asked for
 */
@SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
public record WriteResult(
        boolean applied, long version, long previousVersion, int bits, byte @Nullable [] previousValue) {
    public boolean existed() {
        return ResultBits.has(bits, ResultBits.EXISTED);
    }
}
