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

/** Reads the hello of one client, and decides whether it is welcome. Owned by the loop of the connection. */
final class ClientHandshake {
    /**
     * What becomes of a client.
     *
     * @param answer its frame
     * @param fault null: it is welcome
     * @param text why it is refused, else empty
     */
    record Verdict(ByteBuffer answer, @Nullable WireFault fault, String text) {}

    private final ClientPort port;
    private final HandshakeInput hello =
            new HandshakeInput(WirePort.CLIENTS, true, ClientHandshakeDescriptor.MAX_HELLO);

    ClientHandshake(ClientPort port) {
        this.port = port;
    }

    /** Takes bytes up to the end of the hello: what follows is frames already. Null while it is not whole. */
    @Nullable
    Verdict take(ByteBuffer more) throws WireException {
        try {
            return hello.take(more) ? judge(ClientHandshakeDescriptor.readHello(hello.frame())) : null;
        } catch (WireException e) {
            final ByteBuffer refusal = HandshakeDescriptor.refusal(WirePort.CLIENTS, e);
            if (refusal == null) {
                throw e;
            }
            return new Verdict(refusal, e.fault(), e.text());
        }
    }

    private Verdict judge(ClientHello from) throws WireException {
        final long cluster = port.routing().configuration().clusterId();
        if (from.clusterId() != 0 && from.clusterId() != cluster) {
            return refused(
                    HandshakeDescriptor.REFUSED_CLUSTER,
                    WireFault.OTHER_CLUSTER,
                    "the client means cluster " + Long.toHexString(from.clusterId()) + ", this server is one of "
                            + Long.toHexString(cluster) + "; check the addresses that the client was given");
        }
        if (from.maxFrame() < port.settings().maxFrame()) {
            throw new WireException(
                    WireFault.BAD_LENGTH,
                    "the client takes frames of " + from.maxFrame() + " bytes only, this server sends up to "
                            + port.settings().maxFrame());
        }
        if (port.isCrowded()) {
            return refused(
                    HandshakeDescriptor.REFUSED_FULL,
                    WireFault.TOO_MANY_CONNECTIONS,
                    "this server has its " + port.settings().maxConnections() + " client connections already");
        }
        final ClientWelcome welcome = new ClientWelcome(
                cluster,
                port.routing().term(),
                port.serverId(),
                port.limits().longest(ClientFrameDescriptor.REQUEST),
                port.settings().maxInFlight());
        return new Verdict(ClientHandshakeDescriptor.welcome(welcome), null, "");
    }

    private static Verdict refused(int status, WireFault fault, String text) {
        return new Verdict(HandshakeDescriptor.refusal(WirePort.CLIENTS, status, text), fault, text);
    }
}
