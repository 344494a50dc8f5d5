package org.rowankv.protocol.frame;

/** Accounts for the memory of a connection's buffers. Called when a buffer grows or shrinks, not per frame. */
@FunctionalInterface
public interface BufferAccounting {
    /** For buffers that are not counted. */
    BufferAccounting UNCOUNTED = delta -> {};

    /** A buffer has grown by that many bytes, or shrunk if negative. */
    void changed(int delta);
}
