package org.rowankv.driver;

import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;

/** Response to a session's latest mutation, kept for repeated attempts. Immutable. */
@SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
record ModelCompletion(long sequence, Status status, int bits, long version, long previousVersion, byte[] result) {
    static final ModelCompletion NONE = new ModelCompletion(-1, Status.OK, 0, 0, 0, null);

    static ModelCompletion of(Request request) {
        return new ModelCompletion(
                request.sequence(),
                request.status(),
                request.bits(),
                request.version(),
                request.previousVersion(),
                request.resultBytes());
    }

    void replay(Request request) {
        request.answer(status, bits | ResultBits.REPLAYED, version, previousVersion);
        if (result != null) {
            System.arraycopy(result, 0, request.resultOf(result.length), 0, result.length);
        }
    }
}
