package org.rowankv.server.client;

/**
 * Process values of a client port.
 *
 * @param host to listen at; empty: every address of this machine
 * @param port to listen at; 0: any that is free
 * @param loops event loops, a thread each
 * @param spinNs how long an idle loop asks again, yielding in between, before it blocks; 0: it blocks at once
 * @param maxConnections open at once; a further one is refused
 * @param maxInFlight requests of one connection that may be without an answer; it is not read further meanwhile
 * @param maxFrame the longest frame that is accepted, more than the largest entry
 * @param handshakeNs how long a connection has to introduce itself
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
        long drainNs) {
    /** What both ends allow unless told otherwise: more than the largest segment. */
    public static final int DEFAULT_MAX_FRAME = 8 << 20;

    public static final long DEFAULT_SPIN_NS = 50_000;

    public ClientPortSettings {
        if (port < 0 || port > 0xffff || loops < 1 || maxConnections < 1 || maxInFlight < 1 || maxFrame < 1 << 16) {
            throw new IllegalArgumentException("a client port at " + port + " with " + loops + " loops, "
                    + maxConnections + " connections, " + maxInFlight + " requests in flight, frames of " + maxFrame
                    + " bytes");
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
                5_000_000_000L);
    }

    public ClientPortSettings withLoops(int newLoops) {
        return new ClientPortSettings(
                host, port, newLoops, spinNs, maxConnections, maxInFlight, maxFrame, handshakeNs, drainNs);
    }

    public ClientPortSettings withSpinNs(long newSpinNs) {
        return new ClientPortSettings(
                host, port, loops, newSpinNs, maxConnections, maxInFlight, maxFrame, handshakeNs, drainNs);
    }

    /** The same with other bounds of what clients may do. */
    public ClientPortSettings withBounds(int newMaxConnections, int newMaxInFlight, int newMaxFrame) {
        return new ClientPortSettings(
                host, port, loops, spinNs, newMaxConnections, newMaxInFlight, newMaxFrame, handshakeNs, drainNs);
    }

    public ClientPortSettings withHandshakeNs(long newHandshakeNs) {
        return new ClientPortSettings(
                host, port, loops, spinNs, maxConnections, maxInFlight, maxFrame, newHandshakeNs, drainNs);
    }
}
