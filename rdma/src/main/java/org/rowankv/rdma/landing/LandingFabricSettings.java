package org.rowankv.rdma.landing;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.landing.wire.PeerAddresses;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/**
 * Settings of a fabric on which the receiver lands.
 *
 * @param listen where this process listens for servers; port 0 selects a free one
 * @param peers where the others listen
 * @param maxMessage longest SEND in bytes, a multiple of 64, at most 128 KiB; longer entries land as blocks
 * @param completions operations in flight on a queue pair; a power of two, at most 65536
 * @param messages limit of RPC messages in flight to one server; beyond it the caller gets QUEUE_FULL
 * @param maxRpc longest RPC message in bytes, at most 64 MiB; twice as much may be in flight to one server
 * @param keepsReserve whether the last posted segment is kept for queue pairs that use the reserve
 * @param ackLevel durability of a completion; at FORCED every endpoint needs a {@link org.rowankv.rdma.LandingForce}
 * @param maxConnections limit of admitted connections of peers; at most 256 others are in the handshake
 * @param connectTimeoutMs longest wait of a {@code connect}, and for a peer's handshake
 * @param retryMs pause after a failed attempt, in which further ones fail at once
 * @param heartbeatMs interval in which either end of a quiet connection sends a ping
 * @param idleTimeoutMs silence after which the other end counts as dead; several heartbeats long
 * @param clock measures the last four
 * @param authentication of this process and its peers
 */
public record LandingFabricSettings(
        InetSocketAddress listen,
        PeerAddresses peers,
        int maxMessage,
        int completions,
        int messages,
        int maxRpc,
        boolean keepsReserve,
        AckLevel ackLevel,
        int maxConnections,
        int connectTimeoutMs,
        int retryMs,
        int heartbeatMs,
        int idleTimeoutMs,
        Clock clock,
        PeerAuthentication authentication) {
    /** Longest SEND of any setting. */
    public static final int LARGEST_MESSAGE = 128 << 10;

    private static final int LARGEST_RPC = 64 << 20;

    public LandingFabricSettings {
        require(maxMessage >= 64 && maxMessage <= LARGEST_MESSAGE && maxMessage % 64 == 0, "maxMessage", maxMessage);
        require(
                completions >= 2 && completions <= 1 << 16 && Integer.bitCount(completions) == 1,
                "completions",
                completions);
        require(messages >= 2, "messages", messages);
        require(maxRpc > 0 && maxRpc <= LARGEST_RPC, "maxRpc", maxRpc);
        require(maxConnections > 0, "maxConnections", maxConnections);
        require(connectTimeoutMs > 0, "connectTimeoutMs", connectTimeoutMs);
        require(retryMs >= 0, "retryMs", retryMs);
        require(heartbeatMs > 0, "heartbeatMs", heartbeatMs);
        require(idleTimeoutMs >= 2 * heartbeatMs, "idleTimeoutMs", idleTimeoutMs);
    }

    /** 16 KiB messages, as on the local fabric; a silent peer counts as dead after 5 s. */
    public static LandingFabricSettings of(InetSocketAddress listen, PeerAddresses peers) {
        return of(listen, peers, usual -> {});
    }

    /**
     * The default settings with changes.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public static LandingFabricSettings of(InetSocketAddress listen, PeerAddresses peers, Consumer<Builder> change) {
        final Builder builder = new Builder();
        change.accept(builder);
        return builder.build(listen, peers);
    }

    /** Values to change, named as in the settings; each starts with its default. */
    public static final class Builder {
        public int maxMessage = 16 << 10;
        public int completions = 1024;
        public int messages = 1024;
        public int maxRpc = 16 << 20;
        public boolean keepsReserve;
        public AckLevel ackLevel = AckLevel.LANDED;
        public int maxConnections = 4096;
        public int connectTimeoutMs = 2000;
        public int retryMs = 200;
        public int heartbeatMs = 1000;
        public int idleTimeoutMs = 5000;
        public Clock clock = SystemClock.INSTANCE;
        public PeerAuthentication authentication = PeerAuthentication.none();

        private Builder() {}

        private LandingFabricSettings build(InetSocketAddress listen, PeerAddresses peers) {
            return new LandingFabricSettings(
                    listen,
                    peers,
                    maxMessage,
                    completions,
                    messages,
                    maxRpc,
                    keepsReserve,
                    ackLevel,
                    maxConnections,
                    connectTimeoutMs,
                    retryMs,
                    heartbeatMs,
                    idleTimeoutMs,
                    clock,
                    authentication);
        }
    }

    private static void require(boolean condition, String name, int value) {
        if (!condition) {
            throw new IllegalArgumentException(name + " = " + value);
        }
    }
}
