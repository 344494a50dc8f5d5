package org.rowankv.rdma.tcp;

/**
 * How landed bytes reach the receiver's device, on a fabric that acknowledges FORCED. Both methods are called on the
 * thread that lands, and must not block: whoever implements this forces on a thread of its own.
 */
public interface LandingForce {

    /** Bytes of the region, by address, that the next {@link #drain} must cover. Never across a segment's end. */
    void flush(long address, long length);

    /**
     * Forces all that was flushed so far. Calls {@link ForceCompletion#forced} or {@link ForceCompletion#failed} once,
     * from any thread. Not called again before that.
     */
    void drain(ForceCompletion completion);

    /** Told when a drain has ended. For any thread. */
    interface ForceCompletion {

        void forced();

        /** The bytes may not be on the device: whoever landed them is not told that they are, and is cut off. */
        void failed(Throwable cause);
    }
}
