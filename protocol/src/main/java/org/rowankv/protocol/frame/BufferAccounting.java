package org.rowankv.protocol.frame;

/** Hears how much memory the buffers of a connection take. Called when a buffer grows or shrinks, not per frame. */
@FunctionalInterface
public interface BufferAccounting {
    /** For buffers that are not counted. */
    BufferAccounting UNCOUNTED = delta -> {};

    /** A buffer has grown by so many bytes, or shrunk if negative. */
    void changed(int delta);
}
