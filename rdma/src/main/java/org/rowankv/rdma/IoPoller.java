package org.rowankv.rdma;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.util.function.Consumer;

/**
 * The I/O that one thread does in its turns: of the sockets that it watches, and of the queue pairs that are at home here
 * ({@link Endpoint#connectAsync(int, long, long, IoPoller)}). There is one wait for all of it, so that nothing is handed
 * from thread to thread where the owner of a queue pair is the owner of its clients' sockets too.
 *
 * <p>Owned by the thread that it has made ({@link #newThread}). {@link #wakeUp} is for any thread. What was handed to it
 * before that thread runs waits until then.
 */
public interface IoPoller extends AutoCloseable {

    /** A daemon that is not started yet, and owns this as soon as it runs. To be asked for once. */
    Thread newThread(String name, Runnable body);

    /**
     * Has the channel looked after from now on. By the owner, or before there is one.
     *
     * @param channel does not block; closed by the caller, who cancels the key before
     * @param ops of {@link SelectionKey}; the key's interest may be changed by the owner
     * @param whenReady called by {@link #turn} and {@link #await}, which pass on what it throws: readiness that was not
     *     handled for that is found again. It must not call those two, nor {@link #close}.
     */
    SelectionKey watch(SelectableChannel channel, int ops, Consumer<SelectionKey> whenReady)
            throws ClosedChannelException;

    /**
     * Does what there is to do, without waiting, and forgets earlier calls of {@link #wakeUp}: so what was announced by
     * them is to be looked for afterwards. The owner's.
     *
     * @return how much happened: sockets that were ready, and work of queue pairs; 0 if nothing
     * @throws java.io.UncheckedIOException if the system refuses to say what is ready
     */
    int turn();

    /**
     * As {@link #turn}, but waits for something to do: until there is, until {@link #wakeUp}, which is not lost if it came
     * after the last turn began, or so long. It may return early, with nothing done. The owner's.
     *
     * @param timeoutNs above 0; what is not whole milliseconds is rounded up. {@link Long#MAX_VALUE}: without end
     */
    int await(long timeoutNs);

    /** Lets the owner see what the caller has put down for it before: ends {@link #await}, or the next one. Any thread. */
    void wakeUp();

    /**
     * Whether queue pairs are at home here, or are being opened: then their acknowledgements end {@link #await}. The
     * owner's.
     */
    boolean carriesPairs();

    /**
     * Ends every queue pair that is at home here, and lets go of what is watched, which stays open. Queue pairs that are to
     * be opened here later are opened elsewhere. By the owner; or by anybody if its thread was never started, and will not
     * be. Twice is as once.
     */
    @Override
    void close();
}
