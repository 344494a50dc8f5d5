package org.rowankv.rdma;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * One incarnation of a server on the fabric: its receive queue, its connections, its RPC messages. Set-up and control
 * path.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
public interface Endpoint extends AutoCloseable {

    /** The queue that remote senders land in. */
    ReceiveQueue receiveQueue();

    /**
     * Drawn when this was opened, and shown to every server that it connects to: tells it from another process that says it is
     * the same start of the same server. 0 where all servers are in one process.
     */
    default long nonce() {
        return 0;
    }

    /**
     * Opens a queue pair to exactly that incarnation of the remote server, in that term. Each call opens a new one;
     * each belongs to one worker.
     *
     * @throws FabricException unknown peer, other incarnation, other cluster, stale term, not admitted, or closed
     */
    QueuePair connect(int remoteServerId, long remoteIncarnation, long term);

    /**
     * As {@link #connect}, for somebody who must not wait: the result is there at once where nothing is to be waited for,
     * and fails with the exceptions of {@link #connect}.
     */
    default CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
        try {
            return CompletableFuture.completedFuture(connect(remoteServerId, remoteIncarnation, term));
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * As {@link #connectAsync(int, long, long)}; the queue pair's I/O is done by that, if this fabric's queue pairs do any
     * that it can do. Then the result is completed by its owner, who does not wait for it. The queue pair is whoever's turn it
     * is, as ever: but nothing moves while nobody turns that.
     */
    default CompletableFuture<QueuePair> connectAsync(
            int remoteServerId, long remoteIncarnation, long term, IoPoller io) {
        return connectAsync(remoteServerId, remoteIncarnation, term);
    }

    /** How long after a failure there is no use in another attempt to connect, in nanoseconds; 0 where each is cheap. */
    default long retryNs() {
        return 0;
    }

    /** Why the last attempt to reach a server with messages was refused or failed, for a log; empty if none was. */
    default String lastRefusal(int remoteServerId) {
        return "";
    }

    /**
     * Sends an RPC message, from the buffer's position to its limit; the buffer is the caller's again on return. No
     * connection is needed and fences do not hold: the receiver judges by server and incarnation. It may be lost with
     * the receiver; {@link PostStatus#POSTED} does not mean read.
     *
     * @return POSTED, QUEUE_FULL, TOO_LARGE, or UNREACHABLE if no such server is open in this cluster
     */
    int message(int remoteServerId, ByteBuffer message);

    /** Hands up to {@code limit} messages to the settings' handler; returns how many. One agent only. */
    int pollMessages(int limit);

    /**
     * Has that called when messages have come, on a thread of the fabric: it must not block. Where a fabric does not know
     * when they come, it is never called.
     */
    default void onMessages(Runnable handler) {}

    /**
     * Has that called after something may have landed here, on a thread of the fabric, once: it must not block.
     *
     * @return false where a fabric does not know, and never calls it
     */
    default boolean onLanded(Runnable handler) {
        return false;
    }

    /** Fences everyone who lands here, and ends the connections opened from here. */
    @Override
    void close();
}
