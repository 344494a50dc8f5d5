package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientHello;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;

/** Reads the hello of one client and decides whether to admit it. Owned by the loop of the connection. */
final class ClientHandshake {
    /**
     * Outcome of a handshake.
     *
     * @param answer frame to send
     * @param fault null if the client is admitted
     * @param text reason of a refusal, else empty
     */
    record Verdict(ByteBuffer answer, @Nullable WireFault fault, String text) {}

    private final ClientPort port;
    private final HandshakeInput hello =
            new HandshakeInput(WirePort.CLIENTS, true, ClientHandshakeDescriptor.MAX_HELLO);

    ClientHandshake(ClientPort port) {
        this.port = port;
    }

    /** Consumes bytes up to the end of the hello; later bytes are frames. Null while the hello is incomplete. */
    @Nullable
    Verdict take(ByteBuffer more) throws WireException {
        try {
            return hello.take(more) ? check(ClientHandshakeDescriptor.readHello(hello.frame())) : null;
        } catch (WireException e) {
            final ByteBuffer refusal = HandshakeDescriptor.refusal(WirePort.CLIENTS, e);
            if (refusal == null) {
                throw e;
            }
            return new Verdict(refusal, e.fault(), e.text());
        }
    }

    private Verdict check(ClientHello from) throws WireException {
        final long cluster = port.routing().announced().configuration().clusterId();
        if (from.clusterId() != 0 && from.clusterId() != cluster) {
            return refused(
                    HandshakeDescriptor.REFUSED_CLUSTER,
                    WireFault.OTHER_CLUSTER,
                    "the client expects cluster " + Long.toHexString(from.clusterId()) + ", this server belongs to "
                            + Long.toHexString(cluster) + "; check the client's server addresses");
        }
        if (from.maxFrame() < port.settings().maxFrame()) {
            throw new WireException(
                    WireFault.BAD_LENGTH,
                    "the client accepts frames of " + from.maxFrame() + " bytes, this server sends up to "
                            + port.settings().maxFrame());
        }
        if (port.isCrowded()) {
            return refused(
                    HandshakeDescriptor.REFUSED_FULL,
                    WireFault.TOO_MANY_CONNECTIONS,
                    "this server already has its maximum of " + port.settings().maxConnections()
                            + " client connections");
        }
        final ClientWelcome welcome = new ClientWelcome(
                cluster,
                port.routing().announced().term(),
                port.serverId(),
                port.limits().longest(ClientFrameDescriptor.REQUEST),
                port.settings().maxInFlight());
        return new Verdict(ClientHandshakeDescriptor.welcome(welcome), null, "");
    }

    private static Verdict refused(int status, WireFault fault, String text) {
        return new Verdict(HandshakeDescriptor.refusal(WirePort.CLIENTS, status, text), fault, text);
    }
}
