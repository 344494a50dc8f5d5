package org.rowankv.rdma.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The verbs of one RDMA device: a protection domain, a completion queue, and reliable connections with a queue pair
 * each. One thread uses it; no method waits for the network.
 *
 * <p>Postings are prepared once and posted often: posting and polling allocate nothing.
 */
public interface Verbs extends AutoCloseable {

    /**
     * Listens at an address of an RDMA interface, which selects the device. Once, and before all else.
     *
     * @param completions postings that may be outstanding on all connections together
     * @return the address, with the actual port
     * @throws VerbsException if no device has the address, or lacks resources; the message says what to do
     */
    InetSocketAddress listen(InetSocketAddress address, int backlog, int completions) throws VerbsException;

    /** Registers direct memory, for as long as this is open. The caller keeps it reachable. */
    RegisteredMemory register(ByteBuffer memory) throws VerbsException;

    /** As {@link #register}; other ends may write it, and read it. */
    ExposedMemory expose(ByteBuffer memory) throws VerbsException;

    /** Begins to connect; {@link ConnectionEventHandler#onResolved} or {@link ConnectionEventHandler#onFailed} follows. */
    VerbsConnection connect(InetSocketAddress remote, int timeoutMs) throws VerbsException;

    /**
     * Passes completions to the handler, some at a time; returns their number. Those of one connection's sends are in
     * order, and so are those of its receives.
     *
     * @throws VerbsException if the device fails: nothing works any more
     */
    int pollWork(WorkHandler handler) throws VerbsException;

    /** As {@link #pollWork}, for the events of connections. */
    int pollEvents(ConnectionEventHandler handler) throws VerbsException;

    /** Destroys all connections, and releases the device. */
    @Override
    void close();
}
