package org.rowankv.rdma.verbs;

import java.net.InetSocketAddress;

/**
 * A reliable connection with its queue pair: what is sent arrives once and in order, in the receives that the other end
 * posted, or the connection ends. Used by the thread of its {@link Verbs}.
 */
public interface VerbsConnection {

    InetSocketAddress remoteAddress();

    /** Creates the queue pair: after {@link ConnectionEventHandler#onResolved}, or for a request, before {@link #open}. */
    void createQueuePair(int sends, int receives) throws VerbsException;

    /** Prepares the SEND of bytes from that offset. */
    SendPosting prepareSend(RegisteredMemory memory, int offset, long id) throws VerbsException;

    /** Prepares a receive into those bytes. It may be posted before {@link #open}. */
    ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long id) throws VerbsException;

    /** Connects, or accepts the request. {@link ConnectionEventHandler#onEstablished} follows. */
    void open() throws VerbsException;

    /**
     * Disconnects and destroys the queue pair. On return the device neither reads nor writes memory for it, and nothing
     * of the other end arrives any more. Completions of it may follow. Idempotent.
     */
    void destroy();

    /** A prepared SEND; not posted again before its completion. */
    interface SendPosting {
        /** @param length bytes to send, above 0 */
        void post(int length) throws VerbsException;
    }

    /** A prepared receive; not posted again before its completion. */
    interface ReceivePosting {
        void post() throws VerbsException;
    }
}
