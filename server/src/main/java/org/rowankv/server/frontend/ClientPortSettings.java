package org.rowankv.server.frontend;

/**
 * Process values of a client port.
 *
 * @param host to listen at; empty: every address of this machine
 * @param port to listen at; 0: any that is free
 * @param loops event loops, a thread each
 * @param spinNs how long an idle loop asks again, yielding in between, before it blocks; 0: it blocks at once
 * @param maxConnections open at once; a further one is refused
 * @param maxInFlight requests of one connection that may be without an answer; it is not read further meanwhile
 * @param maxFrame the longest frame that is sent or accepted, more than the largest entry; a request may not be longer than an
 *     entry can be
 * @param handshakeNs how long a connection has to introduce itself
 * @param stallNs how long a frame that was begun, or answers that wait to be read, may not get on: 64 KiB of them, or the rest;
 *     then the connection is closed
 * @param hurriedStallNs the same while half of the memory is held; then a frame above 64 KiB has five times as long to get
 *     whole, from when others begin to wait
 * @param maxHeldBytes memory of unfinished frames, unsent answers, and keys and values of requests, of all connections together
 * @param drainNs how long {@link ClientPort#close} waits for requests under way
 */
public record ClientPortSettings(
        String host,
        int port,
        int loops,
        long spinNs,
        int maxConnections,
        int maxInFlight,
        int maxFrame,
        long handshakeNs,
        long stallNs,
        long hurriedStallNs,
        long maxHeldBytes,
        long drainNs) {
    /** What both ends allow unless told otherwise: more than the largest segment. */
    public static final int DEFAULT_MAX_FRAME = 8 << 20;

    public static final long DEFAULT_SPIN_NS = 50_000;

    /** Of the heap: the default of {@code maxHeldBytes}. */
    private static final int HEAP_PARTS = 8;

    private static final long LEAST_HELD_BYTES = 1 << 20;

    public ClientPortSettings {
        if (port < 0
                || port > 0xffff
                || loops < 1
                || maxConnections < 1
                || maxInFlight < 1
                || maxFrame < 1 << 16
                || maxHeldBytes < LEAST_HELD_BYTES) {
            throw new IllegalArgumentException("a client port at " + port + " with " + loops + " loops, "
                    + maxConnections + " connections, " + maxInFlight + " requests in flight, frames of " + maxFrame
                    + " bytes, " + maxHeldBytes + " bytes of memory");
        }
    }

    /** One loop for up to seven processors, another for every four more. */
    public static ClientPortSettings at(String host, int port) {
        return new ClientPortSettings(
                host,
                port,
                Math.max(1, Runtime.getRuntime().availableProcessors() / 4),
                DEFAULT_SPIN_NS,
                10_000,
                1_024,
                DEFAULT_MAX_FRAME,
                10_000_000_000L,
                30_000_000_000L,
                2_000_000_000L,
                Math.max(LEAST_HELD_BYTES, Runtime.getRuntime().maxMemory() / HEAP_PARTS),
                5_000_000_000L);
    }

    public ClientPortSettings withLoops(int newLoops) {
        return new ClientPortSettings(
                host,
                port,
                newLoops,
                spinNs,
                maxConnections,
                maxInFlight,
                maxFrame,
                handshakeNs,
                stallNs,
                hurriedStallNs,
                maxHeldBytes,
                drainNs);
    }

    public ClientPortSettings withSpinNs(long newSpinNs) {
        return new ClientPortSettings(
                host,
                port,
                loops,
                newSpinNs,
                maxConnections,
                maxInFlight,
                maxFrame,
                handshakeNs,
                stallNs,
                hurriedStallNs,
                maxHeldBytes,
                drainNs);
    }

    /** The same with other bounds of what clients may do. */
    public ClientPortSettings withBounds(int newMaxConnections, int newMaxInFlight, int newMaxFrame) {
        return new ClientPortSettings(
                host,
                port,
                loops,
                spinNs,
                newMaxConnections,
                newMaxInFlight,
                newMaxFrame,
                handshakeNs,
                stallNs,
                hurriedStallNs,
                maxHeldBytes,
                drainNs);
    }

    public ClientPortSettings withHandshakeNs(long newHandshakeNs) {
        return new ClientPortSettings(
                host,
                port,
                loops,
                spinNs,
                maxConnections,
                maxInFlight,
                maxFrame,
                newHandshakeNs,
                stallNs,
                hurriedStallNs,
                maxHeldBytes,
                drainNs);
    }

    /** The same with that much memory for what clients send and are sent. */
    public ClientPortSettings withMaxHeldBytes(long newMaxHeldBytes) {
        return new ClientPortSettings(
                host,
                port,
                loops,
                spinNs,
                maxConnections,
                maxInFlight,
                maxFrame,
                handshakeNs,
                stallNs,
                hurriedStallNs,
                newMaxHeldBytes,
                drainNs);
    }

    public ClientPortSettings withDrainNs(long newDrainNs) {
        return new ClientPortSettings(
                host,
                port,
                loops,
                spinNs,
                maxConnections,
                maxInFlight,
                maxFrame,
                handshakeNs,
                stallNs,
                hurriedStallNs,
                maxHeldBytes,
                newDrainNs);
    }
}
