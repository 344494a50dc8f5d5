package org.rowankv.rdma;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.function.Consumer;

/**
 * Poller of one thread's I/O: of watched sockets and of queue pairs assigned to it ({@link Endpoint#connectAsync(int,
 * long, long, IoPoller)}). One wait covers both, which saves thread hand-offs if one thread owns queue pairs and client
 * sockets.
 *
 * <p>Owned by the thread it creates ({@link #newThread}); {@link #wakeUp} is for any thread. Work submitted before that
 * thread runs waits for it.
 */
public interface IoPoller extends AutoCloseable {

    /** Creates the owning daemon thread, unstarted. At most once. */
    Thread newThread(String name, Runnable body);

    /**
     * Watches a channel from now on. Called by the owner, or before there is one.
     *
     * @param channel non-blocking; closed by the caller, after it has cancelled the key
     * @param ops of {@link SelectionKey}; the owner may change the key's interest
     * @param whenReady called by {@link #poll} and {@link #await}, which propagate its exceptions: unhandled readiness
     *     is reported again. It must call neither of them, nor {@link #close}.
     */
    SelectionKey watch(SelectableChannel channel, int ops, Consumer<SelectionKey> whenReady)
            throws ClosedChannelException;

    /**
     * Polls without waiting, and clears earlier {@link #wakeUp} calls: their subjects must be checked afterwards. Owner
     * only.
     *
     * @return amount of work: ready sockets and work of queue pairs; 0 if none
     * @throws java.io.UncheckedIOException if the system's selection fails
     */
    int poll();

    /**
     * As {@link #poll}, but waits for work, for {@link #wakeUp} (including one since the last poll began), or for the
     * timeout. May return early without work. Owner only.
     *
     * @param timeoutNs above 0; rounded up to milliseconds. {@link Long#MAX_VALUE}: no timeout
     */
    int await(long timeoutNs);

    /**
     * Ends the current or next {@link #await}, and makes the caller's earlier writes visible to the owner. Any thread.
     */
    void wakeUp();

    /** Whether queue pairs are assigned or being opened here: their acknowledgements end {@link #await}. Owner only. */
    boolean carriesPairs();

    /**
     * Ends every assigned queue pair, and stops watching channels, which stay open. Later queue pairs are opened
     * elsewhere. Called by the owner, or by any thread if the owner was never started and never will be. Idempotent.
     */
    @Override
    void close();
}
