package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.wire.FrameDescriptor;
import org.rowankv.protocol.wire.HelloDescriptor;
import org.rowankv.protocol.wire.HelloDescriptor.Hello;
import org.rowankv.protocol.wire.HelloDescriptor.Welcome;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.protocol.wire.ProtocolFault;

/** Reads the hello of one client, and decides whether it is welcome. Owned by the loop of the connection. */
final class ClientHandshake {
    /**
     * What becomes of a client.
     *
     * @param status of the answer
     * @param fault null: it is welcome
     * @param text why it is refused, else empty
     */
    record Verdict(int status, @Nullable ProtocolFault fault, String text) {}

    private static final Verdict WELCOME = new Verdict(HelloDescriptor.WELCOME, null, "");

    private final ClientPort port;
    /** What has come of the hello. */
    private final ByteBuffer heard =
            ByteBuffer.allocate(HelloDescriptor.longestHello()).order(ByteOrder.LITTLE_ENDIAN);

    ClientHandshake(ClientPort port) {
        this.port = port;
    }

    /** Takes bytes up to the end of the hello: what follows is frames already. Null while it is not whole. */
    @Nullable
    Verdict take(ByteBuffer more) throws ProtocolException {
        while (more.hasRemaining()) {
            if (!heard.hasRemaining()) {
                throw new ProtocolException(ProtocolFault.BAD_LENGTH, "of a hello");
            }
            heard.put(more.get());
            final Hello from;
            try {
                from = HelloDescriptor.readHello(heard);
            } catch (ProtocolException e) {
                if (e.fault() == ProtocolFault.OTHER_VERSION) {
                    return new Verdict(HelloDescriptor.REFUSED_VERSION, e.fault(), e.text());
                }
                throw e;
            }
            if (from != null) {
                return judge(from);
            }
        }
        return null;
    }

    private Verdict judge(Hello from) throws ProtocolException {
        final long cluster = port.routing().configuration().clusterId();
        if (from.clusterId() != 0 && from.clusterId() != cluster) {
            return new Verdict(
                    HelloDescriptor.REFUSED_CLUSTER,
                    ProtocolFault.OTHER_CLUSTER,
                    "the client means cluster " + Long.toHexString(from.clusterId()) + ", this server is one of "
                            + Long.toHexString(cluster) + "; check the addresses that the client was given");
        }
        if (from.maxFrame() < port.settings().maxFrame()) {
            throw new ProtocolException(
                    ProtocolFault.BAD_LENGTH,
                    "the client takes frames of " + from.maxFrame() + " bytes only, this server sends up to "
                            + port.settings().maxFrame());
        }
        if (port.isCrowded()) {
            return new Verdict(
                    HelloDescriptor.REFUSED_FULL,
                    ProtocolFault.TOO_MANY_CONNECTIONS,
                    "this server has its " + port.settings().maxConnections() + " client connections already");
        }
        return WELCOME;
    }

    ByteBuffer answer(Verdict verdict) {
        return HelloDescriptor.welcome(new Welcome(
                HelloDescriptor.VERSION,
                verdict.status(),
                port.routing().configuration().clusterId(),
                port.routing().term(),
                port.serverId(),
                port.limits().longest(FrameDescriptor.REQUEST),
                port.settings().maxInFlight(),
                verdict.text()));
    }
}
