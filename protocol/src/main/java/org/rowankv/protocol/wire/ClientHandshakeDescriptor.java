package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;

/**
 * Layout of the two frames of a client's handshake, behind the prefix of {@link HandshakeDescriptor}. Little-endian.
 *
 * <pre>
 *   hello, from the client; code: 0
 *   24           32          36     40
 *   +------------+-----------+------+
 *   | cluster id | max frame | zero |
 *   +------------+-----------+------+
 *
 *   welcome, from the server; code: 0
 *   24           32     40       44          48              52     56
 *   +------------+------+--------+-----------+---------------+------+
 *   | cluster id | term | server | max frame | max in flight | zero |
 *   +------------+------+--------+-----------+---------------+------+
 * </pre>
 */
public final class ClientHandshakeDescriptor {
    public static final int CLUSTER_OFFSET = HandshakeDescriptor.PREFIX_LENGTH;
    static final int HELLO_MAX_FRAME_OFFSET = 32;
    static final int HELLO_ZERO_OFFSET = 36;
    /** Bytes of a hello. */
    public static final int HELLO_LENGTH = 40;
    /** Of whatever version. */
    public static final int MAX_HELLO = 1024;

    public static final int TERM_OFFSET = 32;
    static final int SERVER_OFFSET = 40;
    static final int MAX_FRAME_OFFSET = 44;
    static final int MAX_IN_FLIGHT_OFFSET = 48;
    static final int ZERO_OFFSET = 52;
    /** Bytes of a welcome. */
    public static final int WELCOME_LENGTH = 56;

    /** A length that no frame of this protocol can do without. */
    static final int LEAST_MAX_FRAME = 1 << 10;

    /**
     * Hello of a client.
     *
     * @param clusterId 0: any
     * @param maxFrame the longest frame that it accepts
     */
    public record ClientHello(long clusterId, int maxFrame) {}

    /**
     * Welcome of an accepted client.
     *
     * @param maxFrame the longest frame that the server accepts
     * @param maxInFlight limit of a connection's requests in flight
     */
    public record ClientWelcome(long clusterId, long term, int serverId, int maxFrame, int maxInFlight) {}

    private ClientHandshakeDescriptor() {}

    public static ByteBuffer hello(ClientHello hello) {
        return HandshakeDescriptor.seal(HandshakeDescriptor.frame(WirePort.CLIENTS, HELLO_LENGTH, 0)
                .putLong(CLUSTER_OFFSET, hello.clusterId())
                .putInt(HELLO_MAX_FRAME_OFFSET, hello.maxFrame()));
    }

    public static ByteBuffer welcome(ClientWelcome welcome) {
        return HandshakeDescriptor.seal(
                HandshakeDescriptor.frame(WirePort.CLIENTS, WELCOME_LENGTH, HandshakeDescriptor.ACCEPTED)
                        .putLong(CLUSTER_OFFSET, welcome.clusterId())
                        .putLong(TERM_OFFSET, welcome.term())
                        .putInt(SERVER_OFFSET, welcome.serverId())
                        .putInt(MAX_FRAME_OFFSET, welcome.maxFrame())
                        .putInt(MAX_IN_FLIGHT_OFFSET, welcome.maxInFlight()));
    }

    /** Reads a whole hello. */
    public static ClientHello readHello(ByteBuffer frame) throws WireException {
        if (frame.limit() != HELLO_LENGTH) {
            throw new WireException(WireFault.BAD_FRAME, "a hello of " + frame.limit() + " bytes");
        }
        final int maxFrame = frame.getInt(HELLO_MAX_FRAME_OFFSET);
        if (HandshakeDescriptor.code(frame) != 0
                || frame.getInt(HELLO_ZERO_OFFSET) != 0
                || maxFrame < LEAST_MAX_FRAME) {
            throw new WireException(WireFault.BAD_FRAME, "a hello that cannot be meant");
        }
        return new ClientHello(frame.getLong(CLUSTER_OFFSET), maxFrame);
    }

    /** Reads a whole welcome that is no refusal. */
    public static ClientWelcome readWelcome(ByteBuffer frame) throws WireException {
        if (frame.limit() != WELCOME_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "a welcome of " + frame.limit() + " bytes");
        }
        final ClientWelcome welcome = new ClientWelcome(
                frame.getLong(CLUSTER_OFFSET),
                frame.getLong(TERM_OFFSET),
                frame.getInt(SERVER_OFFSET),
                frame.getInt(MAX_FRAME_OFFSET),
                frame.getInt(MAX_IN_FLIGHT_OFFSET));
        if (frame.getInt(ZERO_OFFSET) != 0
                || welcome.maxFrame() < LEAST_MAX_FRAME
                || welcome.maxInFlight() < 1
                || welcome.serverId() < 0) {
            throw new WireException(WireFault.BAD_FRAME, "a welcome that cannot be meant");
        }
        return welcome;
    }
}
