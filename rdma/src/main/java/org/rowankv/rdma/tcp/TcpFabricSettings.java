package org.rowankv.rdma.tcp;

import java.net.InetSocketAddress;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.tcp.wire.PeerAddresses;
import org.rowankv.rdma.tcp.wire.PeerAuthentication;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/**
 * Sizes, times and surroundings of a TCP fabric.
 *
 * @param listen where this process listens for servers; port 0 takes any that is free
 * @param peers where the others listen
 * @param maxMessage longest SEND in bytes, a multiple of 64, at most 128 KiB; longer entries land as blocks
 * @param completions operations in flight on a queue pair; a power of two, at most 65536
 * @param messages RPC messages in flight to one server before the caller is told QUEUE_FULL
 * @param maxRpc longest RPC message in bytes, at most 64 MiB; twice as much may be in flight to one server
 * @param keepsReserve whether the last posted segment is kept for queue pairs that use the reserve
 * @param ackLevel what a completion promises; at FORCED every endpoint needs a {@link org.rowankv.rdma.LandingForce}
 * @param nativeTransport whether epoll is used where it can be; NIO otherwise
 * @param maxConnections connections of peers that are admitted at a time; of those that are not, 256 at most
 * @param connectTimeoutMs longest wait of a {@code connect}, and for a peer's handshake
 * @param retryMs pause after an attempt that failed, in which further ones fail at once
 * @param heartbeatMs how often either end of a quiet connection says that it is there
 * @param idleTimeoutMs silence after which the other end counts as gone; several heartbeats long
 * @param clock measures the last four
 * @param authentication of this process and its peers
 */
public record TcpFabricSettings(
        InetSocketAddress listen,
        PeerAddresses peers,
        int maxMessage,
        int completions,
        int messages,
        int maxRpc,
        boolean keepsReserve,
        AckLevel ackLevel,
        boolean nativeTransport,
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

    public TcpFabricSettings {
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

    /** 16 KiB messages, as on the local fabric; a peer counts as gone after 5 s. */
    public static TcpFabricSettings of(InetSocketAddress listen, PeerAddresses peers) {
        return new TcpFabricSettings(
                listen,
                peers,
                16 << 10,
                256,
                1024,
                16 << 20,
                false,
                AckLevel.LANDED,
                true,
                4096,
                2000,
                200,
                1000,
                5000,
                SystemClock.INSTANCE,
                PeerAuthentication.none());
    }

    /** The same, with the last posted segment kept in reserve. */
    public TcpFabricSettings withReserve() {
        return new TcpFabricSettings(
                listen,
                peers,
                maxMessage,
                completions,
                messages,
                maxRpc,
                true,
                ackLevel,
                nativeTransport,
                maxConnections,
                connectTimeoutMs,
                retryMs,
                heartbeatMs,
                idleTimeoutMs,
                clock,
                authentication);
    }

    /** The same, with SENDs of that length at most. */
    public TcpFabricSettings withMaxMessage(int newMaxMessage) {
        return new TcpFabricSettings(
                listen,
                peers,
                newMaxMessage,
                completions,
                messages,
                maxRpc,
                keepsReserve,
                ackLevel,
                nativeTransport,
                maxConnections,
                connectTimeoutMs,
                retryMs,
                heartbeatMs,
                idleTimeoutMs,
                clock,
                authentication);
    }

    /** The same, with completions that promise that. */
    public TcpFabricSettings withAckLevel(AckLevel newLevel) {
        return new TcpFabricSettings(
                listen,
                peers,
                maxMessage,
                completions,
                messages,
                maxRpc,
                keepsReserve,
                newLevel,
                nativeTransport,
                maxConnections,
                connectTimeoutMs,
                retryMs,
                heartbeatMs,
                idleTimeoutMs,
                clock,
                authentication);
    }

    /** The same, on NIO or, where it can be, on epoll. */
    public TcpFabricSettings withNativeTransport(boolean wanted) {
        return new TcpFabricSettings(
                listen,
                peers,
                maxMessage,
                completions,
                messages,
                maxRpc,
                keepsReserve,
                ackLevel,
                wanted,
                maxConnections,
                connectTimeoutMs,
                retryMs,
                heartbeatMs,
                idleTimeoutMs,
                clock,
                authentication);
    }

    /** The same, with other times, measured by that clock. */
    public TcpFabricSettings withTimes(
            int newConnectTimeoutMs, int newRetryMs, int newHeartbeatMs, int newIdleTimeoutMs, Clock newClock) {
        return new TcpFabricSettings(
                listen,
                peers,
                maxMessage,
                completions,
                messages,
                maxRpc,
                keepsReserve,
                ackLevel,
                nativeTransport,
                maxConnections,
                newConnectTimeoutMs,
                newRetryMs,
                newHeartbeatMs,
                newIdleTimeoutMs,
                newClock,
                authentication);
    }

    /** The same, with peers that are authenticated so. */
    public TcpFabricSettings withAuthentication(PeerAuthentication newAuthentication) {
        return new TcpFabricSettings(
                listen,
                peers,
                maxMessage,
                completions,
                messages,
                maxRpc,
                keepsReserve,
                ackLevel,
                nativeTransport,
                maxConnections,
                connectTimeoutMs,
                retryMs,
                heartbeatMs,
                idleTimeoutMs,
                clock,
                newAuthentication);
    }

    private static void require(boolean condition, String name, int value) {
        if (!condition) {
            throw new IllegalArgumentException(name + " = " + value);
        }
    }
}
