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

    /**
     * Prepares WRITEs into the other end's memory, and behind them a READ of one byte of it, posted together.
     *
     * @param memory with the bytes to write
     * @param target receives the byte
     */
    OneSidedPosting prepareOneSided(
            RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long id)
            throws VerbsException;

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

    /**
     * Prepared WRITEs and a READ; not posted again before its completion, of which there is one, of the READ. WRITEs of a
     * connection take effect in the order of posting, and those before the READ have when it completes: their bytes are
     * in the other end's memory, and its processor finds a WRITE no earlier than all before it. The bytes to write are
     * read until then.
     */
    interface OneSidedPosting {
        /**
         * @param index of the WRITE
         * @param offset in the memory to write from
         * @param remoteAddress where the other end's exposed memory gets them
         */
        void write(int index, int offset, int length, long remoteAddress, int remoteKey);

        /** The byte to read. */
        void read(long remoteAddress, int remoteKey);

        void post() throws VerbsException;
    }
}
