package org.rowankv.rdma;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * One incarnation of a server on the fabric: its receive queue, connections and RPC messages. Set-up and control path.
 *
 * <p>Safe for any thread, except that one agent polls messages.
 */
public interface Endpoint extends AutoCloseable {

    /** The queue in which remote senders land. */
    ReceiveQueue receiveQueue();

    /**
     * Random nonce of this endpoint, sent to every connected server: it distinguishes another process that claims the
     * same incarnation of the same server. 0 if all servers share one process.
     */
    default long nonce() {
        return 0;
    }

    /**
     * Opens a new queue pair to exactly that incarnation of the remote server, in that term. Each pair belongs to one
     * worker.
     *
     * @throws FabricException unknown peer, other incarnation, other cluster, stale term, not admitted, or closed
     */
    QueuePair connect(int remoteServerId, long remoteIncarnation, long term);

    /**
     * As {@link #connect}, without blocking: the result is complete at once if there is nothing to wait for, and fails
     * with the exceptions of {@link #connect}.
     */
    default CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
        try {
            return CompletableFuture.completedFuture(connect(remoteServerId, remoteIncarnation, term));
        } catch (FabricException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * As {@link #connectAsync(int, long, long)}; that poller performs the queue pair's I/O, if the fabric supports it.
     * Then the poller's owner completes the result without waiting. The pair is used as usual, but makes progress only
     * while the owner polls.
     */
    default CompletableFuture<QueuePair> connectAsync(
            int remoteServerId, long remoteIncarnation, long term, IoPoller io) {
        return connectAsync(remoteServerId, remoteIncarnation, term);
    }

    /** Minimum time between attempts to connect after a failure, in nanoseconds; 0 if attempts are cheap. */
    default long retryNs() {
        return 0;
    }

    /**
     * Reason of the last refused or failed attempt to reach a server with messages, for logs; empty if there was none.
     */
    default String lastRefusal(int remoteServerId) {
        return "";
    }

    /**
     * Sends an RPC message, from the buffer's position to its limit; the caller owns the buffer again on return. Needs
     * no connection, and fences do not apply: the receiver checks server and incarnation. A message may be lost with
     * the receiver; {@link PostStatus#POSTED} does not mean read.
     *
     * @return POSTED, QUEUE_FULL, TOO_LARGE, or UNREACHABLE if no such server is open in this cluster
     */
    int message(int remoteServerId, ByteBuffer message);

    /** Passes up to {@code limit} messages to the settings' handler; returns their number. One agent only. */
    int pollMessages(int limit);

    /**
     * Sets a handler for the arrival of messages, on a thread of the fabric: it must not block. Fabrics without
     * notification never call it.
     */
    default void onMessages(Runnable handler) {}

    /**
     * Sets a handler for the next possible landing, called once on a thread of the fabric: it must not block.
     *
     * @return false if the fabric has no notification, and never calls it
     */
    default boolean onLanded(Runnable handler) {
        return false;
    }

    /**
     * The credit that a process of another server holds here or has used, once it is fenced for good: it returns nothing
     * more, and what it has not used is free again, which only this server's log shows. 0 if it is known already, or if
     * the fabric keeps no such account.
     */
    default long takeCredit(int remoteServerId, long remoteIncarnation) {
        return 0;
    }

    /** Fences all senders of this endpoint, and ends the connections opened from here. */
    @Override
    void close();
}
