package org.rowankv.server.frontend;

import java.util.function.Consumer;
import org.rowankv.protocol.frame.FrameLimits;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.RequestDescriptor;

/**
 * Settings of a client port.
 *
 * @param host to listen at; empty: every address of this machine
 * @param port to listen at; 0: any free port
 * @param loops event loops, one thread each
 * @param spinNs how long an idle loop polls, yielding in between, before it blocks; 0: it blocks at once
 * @param maxConnections open at once; a further one is refused
 * @param maxInFlight in-flight window: unanswered requests of one connection, which is not read further at the limit
 * @param maxFrame longest frame sent or accepted, longer than the largest entry; a request is limited to the length of
 * an entry
 * @param handshakeNs deadline of the handshake
 * @param maxHeldBytes memory of incomplete frames, unsent answers, and keys and values of requests, of all connections
 * together
 * @param drainNs how long {@link ClientPort#close} waits for pending requests
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
        long maxHeldBytes,
        long drainNs) {
    /** Default of both ends: more than the largest segment. */
    public static final int DEFAULT_MAX_FRAME = 8 << 20;

    public static final long DEFAULT_SPIN_NS = 50_000;

    /** Default of {@code maxHeldBytes}, as a fraction of the heap. */
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
        return at(host, port, usual -> {});
    }

    /**
     * Default settings with changes.
     *
     * @throws IllegalArgumentException if a value is out of range
     */
    public static ClientPortSettings at(String host, int port, Consumer<Builder> change) {
        final Builder builder = new Builder();
        change.accept(builder);
        return builder.build(host, port);
    }

    /**
     * Length limits of a client's frames.
     *
     * @param longestEntry of the server, in bytes
     */
    FrameLimits frameLimits(int longestEntry) {
        return new RequestLimits(
                (int) Math.min(maxFrame, (long) RequestDescriptor.FIXED_LENGTH + longestEntry), maxFrame);
    }

    /**
     * An entry that fits a segment, or the limit of the format.
     *
     * @param request longest request, in bytes
     * @param most bytes of any frame
     */
    private record RequestLimits(int request, int most) implements FrameLimits {
        /** More than the longest name and descriptor of a cache, so that too long ones receive an answer. */
        private static final int CATALOGUE = 1 << 20;
        /** All other types, known or not: longer than needed, so that unknown types are read and named in the log. */
        private static final int OTHERS = 1 << 10;

        @Override
        public int longest(int type) {
            return switch (type) {
                case ClientFrameDescriptor.REQUEST -> request;
                case ClientFrameDescriptor.CHANGES_REQUEST -> Math.min(most, ChangesRequestDescriptor.MAX_LENGTH);
                case ClientFrameDescriptor.CATALOGUE -> Math.min(most, CATALOGUE);
                default -> OTHERS;
            };
        }
    }

    /** Values to change, named as in the settings; each starts with its default. */
    public static final class Builder {
        public int loops = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
        public long spinNs = DEFAULT_SPIN_NS;
        public int maxConnections = 10_000;
        public int maxInFlight = 1_024;
        public int maxFrame = DEFAULT_MAX_FRAME;
        public long handshakeNs = 10_000_000_000L;
        public long maxHeldBytes =
                Math.max(LEAST_HELD_BYTES, Runtime.getRuntime().maxMemory() / HEAP_PARTS);
        public long drainNs = 5_000_000_000L;

        private Builder() {}

        private ClientPortSettings build(String host, int port) {
            return new ClientPortSettings(
                    host,
                    port,
                    loops,
                    spinNs,
                    maxConnections,
                    maxInFlight,
                    maxFrame,
                    handshakeNs,
                    maxHeldBytes,
                    drainNs);
        }
    }
}
