package org.rowankv.sim.verbs;

import java.nio.ByteBuffer;

/**
 * What a server has posted to a device to be sent.
 *
 * @param memory that the bytes are read from when they are sent, or that a READ's byte goes to
 * @param id of its completion; a WRITE has one only if it fails
 */
record WorkRequest(Kind kind, ByteBuffer memory, int offset, int length, long id, long remoteAddress, int remoteKey) {
    enum Kind {
        SEND,
        WRITE,
        READ
    }

    /** SEND of those bytes. */
    static WorkRequest send(ByteBuffer memory, int offset, int length, long id) {
        return new WorkRequest(Kind.SEND, memory, offset, length, id, 0, 0);
    }
}
