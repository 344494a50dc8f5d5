package org.rowankv.rdma.landing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.HandshakeProof;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerWelcome;
import org.rowankv.rdma.landing.wire.ProofDescriptor;
import org.rowankv.rdma.landing.wire.RefusalStatus;
import org.rowankv.rdma.secret.ClusterSecret;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handshake of an accepted connection. No peer is trusted: it stores little, allocates nothing by announced sizes, and
 * has a deadline. On the NIC agent's event loop.
 */
final class InboundHandshake extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(InboundHandshake.class);

    private final LandingFabric fabric;
    private final HandshakeInput input = new HandshakeInput(WirePort.PEERS, true, PeerHandshakeDescriptor.MAX_HELLO);
    private final long sinceNs;
    private @Nullable ChannelHandlerContext context;
    private boolean over;
    /** Challenged, and not proved yet. */
    private @Nullable PeerHello hello;
    /** The expected proof; null with method none. */
    private @Nullable HandshakeProof proof;
    /** The caller has proved itself: responses carry this end's MAC. */
    private boolean proved;

    InboundHandshake(LandingFabric fabric, long sinceNs) {
        this.fabric = fabric;
        this.sinceNs = sinceNs;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        fabric.begun(this);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext removed) {
        over = true;
        fabric.ended(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext here, Object message) {
        final ByteBuf in = (ByteBuf) message;
        try {
            final ByteBuffer bytes = in.nioBuffer();
            if (!over && input.take(bytes)) {
                if (bytes.hasRemaining()) {
                    throw new WireException(WireFault.BAD_FRAME, "it goes on before it was answered");
                }
                onFrame(here, input.frame());
            }
        } catch (WireException e) {
            fail(here, e);
        } finally {
            in.release();
        }
    }

    private void onFrame(ChannelHandlerContext here, ByteBuffer frame) throws WireException {
        final PeerHello challenged = hello;
        if (challenged == null) {
            onHello(here, PeerHandshakeDescriptor.readHello(frame), frame);
        } else {
            onProof(here, challenged, ProofDescriptor.readProof(frame));
        }
    }

    private void onHello(ChannelHandlerContext here, PeerHello whole, ByteBuffer frame) throws WireException {
        final PeerAuthentication authentication = fabric.authentication();
        final String why = authentication.whyRefused(PeerHandshakeDescriptor.method(frame));
        if (why != null) {
            fabric.faults().report(WireFault.OTHER_METHOD, here.channel().remoteAddress(), why);
            refuse(here, refusal(Reason.UNPROVEN, why));
            return;
        }
        final ClusterSecret secret = authentication.secret();
        if (secret == null) {
            over = true;
            answer(here, whole);
            return;
        }
        hello = whole;
        final ByteBuffer challenge = ProofDescriptor.challenge(authentication.draw(), authentication.draw());
        proof = HandshakeProof.of(secret, frame, challenge);
        input.next(ProofDescriptor.PROOF_LENGTH);
        final var unused = here.writeAndFlush(Unpooled.wrappedBuffer(challenge), here.voidPromise());
    }

    private void onProof(ChannelHandlerContext here, PeerHello challenged, byte[] mac) throws WireException {
        final HandshakeProof expected = proof;
        if (expected == null || !expected.isOfCaller(mac)) {
            final String why = "it says that it is server " + challenged.from()
                    + ", and does not prove that it holds the cluster's secret";
            fabric.faults().report(WireFault.UNPROVEN, here.channel().remoteAddress(), why);
            refuse(here, refusal(Reason.UNPROVEN, "the proof is wrong: it has another secret"));
            return;
        }
        over = true;
        proved = true;
        answer(here, challenged);
    }

    private void answer(ChannelHandlerContext here, PeerHello whole) throws WireException {
        try {
            final LandingEndpoint endpoint = fabric.endpoint(whole.to());
            if (endpoint == null) {
                throw RefusalStatus.refusal(Reason.UNKNOWN_PEER, whole.to(), "it is not open");
            }
            endpoint.accept(whole, here, this);
        } catch (FabricException e) {
            refuse(here, refusal(e.reason(), String.valueOf(e.getMessage())));
        }
    }

    /** Accepts: the given reader takes over the connection. */
    void accept(ChannelHandlerContext here, PeerWelcome welcome, FrameReader reader) {
        here.pipeline().addLast(reader);
        final var unused = here.writeAndFlush(signed(PeerHandshakeDescriptor.welcome(welcome)), here.voidPromise());
        here.pipeline().remove(this);
    }

    private static ByteBuffer refusal(Reason reason, String text) {
        return HandshakeDescriptor.refusal(WirePort.PEERS, RefusalStatus.statusOf(reason), text);
    }

    private void refuse(ChannelHandlerContext here, ByteBuffer refusal) {
        over = true;
        here.writeAndFlush(signed(refusal)).addListener(written -> {
            final var unused = here.close();
        });
    }

    /** With this end's MAC, if the caller has proved itself. */
    private ByteBuf signed(ByteBuffer answer) {
        final HandshakeProof own = proof;
        return Unpooled.wrappedBuffer(own != null && proved ? own.sign(answer) : answer);
    }

    private void fail(ChannelHandlerContext here, WireException e) {
        fabric.faults().report(e.fault(), here.channel().remoteAddress(), e.text());
        final ByteBuffer refusal = HandshakeDescriptor.refusal(WirePort.PEERS, e);
        if (refusal != null) {
            refuse(here, refusal);
        } else {
            over = true;
            final var unused = here.close();
        }
    }

    /** Ends an overdue handshake. */
    void tick(long nowNs, long patienceNs) {
        final ChannelHandlerContext here = context;
        if (here != null && nowNs - sinceNs > patienceNs) {
            if (!over) {
                fail(here, new WireException(WireFault.NO_HANDSHAKE, "connected and said nothing that is whole"));
            } else {
                final var unused = here.close();
            }
        }
    }

    /** Closes the connection as the oldest of too many; its fabric has removed it already. */
    void displace(int most) {
        final ChannelHandlerContext here = context;
        if (here != null && !over) {
            fail(
                    here,
                    new WireException(
                            WireFault.TOO_MANY_CONNECTIONS, most + " others have not introduced themselves either"));
        } else if (here != null) {
            final var unused = here.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext here, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug(
                    "The connection of {} broke in its handshake",
                    here.channel().remoteAddress(),
                    cause);
        } else {
            LOG.error(
                    "ROWAN-3003 The handshake of {} is broken off after a failure",
                    here.channel().remoteAddress(),
                    cause);
        }
        final var unused = here.close();
    }
}
