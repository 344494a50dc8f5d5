package org.rowankv.rdma.landing;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
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
import org.rowankv.runtime.FaultLog;

/**
 * Handshake of a connection opened here: sends the hello, answers the challenge if the method is the secret, and awaits
 * the welcome. On the connection's event loop.
 */
public final class OutboundHandshake extends ChannelInboundHandlerAdapter {
    /** The called server. */
    private final int serverId;

    private final FaultLog<WireFault> faults;
    private final Outcome outcome;
    private final @Nullable ClusterSecret secret;
    private final HandshakeInput input = new HandshakeInput(WirePort.PEERS, false, HandshakeDescriptor.MAX_REFUSAL);
    /** The hello frame, until the challenge arrives. */
    private @Nullable ByteBuffer saidHello;
    /** Of both ends, from the challenge on. */
    private @Nullable HandshakeProof proof;

    private @Nullable ChannelHandlerContext context;
    private boolean connected;
    private boolean over;

    /** Result of the handshake; one of the methods is called, once, on the event loop. */
    public interface Outcome {

        /** Returns the reader that takes over the connection. */
        FrameReader welcomed(ChannelHandlerContext context, PeerWelcome welcome);

        void failed(FabricException why);
    }

    OutboundHandshake(PeerHello hello, PeerAuthentication authentication, FaultLog<WireFault> faults, Outcome outcome) {
        this.serverId = hello.to();
        this.saidHello = PeerHandshakeDescriptor.hello(hello, authentication);
        this.secret = authentication.secret();
        this.faults = faults;
        this.outcome = outcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        connected = true;
        final var unused =
                context.writeAndFlush(Unpooled.wrappedBuffer(requireNonNull(saidHello)), context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        final ByteBuf in = (ByteBuf) message;
        try {
            final ByteBuffer bytes = in.nioBuffer();
            if (!over && input.take(bytes)) {
                in.skipBytes(bytes.position());
                onFrame(context, input.frame(), in);
            }
        } catch (WireException e) {
            faults.report(e.fault(), context.channel().remoteAddress(), e.text());
            final boolean version = e.fault() == WireFault.OTHER_VERSION;
            fail(context, version ? Reason.OTHER_VERSION : Reason.UNKNOWN_PEER, e.text());
        } finally {
            in.release();
        }
    }

    private void onFrame(ChannelHandlerContext context, ByteBuffer frame, ByteBuf rest) throws WireException {
        final int status = HandshakeDescriptor.code(frame);
        if (ProofDescriptor.isChallenge(frame)) {
            onChallenge(context, frame, rest);
        } else if (status == HandshakeDescriptor.ACCEPTED) {
            onWelcome(context, frame, rest);
        } else {
            // A refusal before the proof carries no MAC; the caller only retries after one.
            fail(context, RefusalStatus.reasonOf(status), HandshakeDescriptor.text(frame));
        }
    }

    private void onChallenge(ChannelHandlerContext context, ByteBuffer challenge, ByteBuf rest) throws WireException {
        final ClusterSecret own = secret;
        final ByteBuffer said = saidHello;
        if (own == null || said == null) {
            throw new WireException(WireFault.BAD_FRAME, "a challenge that no method asks for now");
        }
        ProofDescriptor.checkChallenge(challenge);
        if (rest.isReadable()) {
            throw new WireException(WireFault.BAD_FRAME, "it goes on before the proof");
        }
        final HandshakeProof made = HandshakeProof.of(own, said, challenge);
        proof = made;
        saidHello = null;
        input.next(HandshakeDescriptor.MAX_REFUSAL);
        final var unused = context.writeAndFlush(
                Unpooled.wrappedBuffer(ProofDescriptor.proof(made.ofCaller())), context.voidPromise());
    }

    private void onWelcome(ChannelHandlerContext context, ByteBuffer frame, ByteBuf rest) throws WireException {
        final PeerWelcome welcome = PeerHandshakeDescriptor.readWelcome(frame);
        final HandshakeProof own = proof;
        if (secret != null && (own == null || !own.isOfCalled(frame))) {
            final String why =
                    "it welcomes as server " + serverId + ", and does not prove that it holds the cluster's secret";
            faults.report(WireFault.UNPROVEN, context.channel().remoteAddress(), why);
            fail(context, Reason.UNPROVEN, why);
            return;
        }
        over = true;
        context.pipeline().addLast(outcome.welcomed(context, welcome));
        // Bytes after the welcome belong to the next reader.
        if (rest.isReadable()) {
            context.fireChannelRead(rest.readRetainedSlice(rest.readableBytes()));
        }
        context.fireChannelReadComplete();
        context.pipeline().remove(this);
    }

    private void fail(ChannelHandlerContext context, Reason reason, String why) {
        if (!over) {
            over = true;
            outcome.failed(RefusalStatus.refusal(reason, serverId, why));
        }
        final var unused = context.close();
    }

    /** The connection could not be established. */
    void notConnected(Throwable cause) {
        if (!over) {
            over = true;
            outcome.failed(RefusalStatus.refusal(Reason.UNKNOWN_PEER, serverId, String.valueOf(cause.getMessage())));
        }
    }

    /** The handshake is overdue. */
    void timeOut() {
        final ChannelHandlerContext here = context;
        if (here != null && !over) {
            fail(here, Reason.UNKNOWN_PEER, "no answer in time");
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(context, Reason.UNKNOWN_PEER, "it closed the connection in the handshake");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(context, Reason.UNKNOWN_PEER, cause.toString());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        // A channel that never connected has failed to; its connect callback reports why, perhaps later.
        if (!over && connected) {
            fail(context, Reason.CLOSED, "given up");
        }
    }
}
