package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.rdma.tcp.wire.FrameReader;
import org.rowankv.rdma.tcp.wire.HandshakeProof;
import org.rowankv.rdma.tcp.wire.HelloDescriptor;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.wire.HelloDescriptor.Welcome;
import org.rowankv.rdma.tcp.wire.PeerAuthentication;
import org.rowankv.rdma.tcp.wire.ProofDescriptor;
import org.rowankv.rdma.tcp.wire.Refusals;
import org.rowankv.rdma.tcp.wire.WireChecksum;
import org.rowankv.rdma.tcp.wire.WireException;
import org.rowankv.rdma.tcp.wire.WireFault;
import org.rowankv.runtime.FaultLog;

/**
 * Says hello on a connection that we opened, answers the challenge if the hello's method is the secret, and waits for the
 * welcome. On the connection's event loop.
 */
final class OutboundHandshake extends ChannelInboundHandlerAdapter {
    private final Hello hello;
    private final FaultLog<WireFault> faults;
    private final Outcome outcome;
    private final @Nullable ClusterSecret secret;
    private final WireChecksum checksum = new WireChecksum();
    /** The frame of the hello, until the challenge is there. */
    private byte @Nullable [] saidHello;
    /** Of both ends, from the challenge on. */
    private @Nullable HandshakeProof proof;

    private @Nullable ByteBuf arrived;
    private @Nullable ChannelHandlerContext context;
    private boolean connected;
    private boolean over;

    /** What comes of it; one of the two is called, once, on the event loop. */
    interface Outcome {

        /** Returns who reads the connection from now on. */
        FrameReader welcomed(ChannelHandlerContext context, Welcome welcome);

        void failed(FabricException why);
    }

    /** @param said is completed with what the method needs */
    OutboundHandshake(Hello said, PeerAuthentication authentication, FaultLog<WireFault> faults, Outcome outcome) {
        this.hello = said.provedBy(authentication);
        this.secret = authentication.secret();
        this.faults = faults;
        this.outcome = outcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        connected = true;
        final ByteBuf out =
                context.alloc().directBuffer(HelloDescriptor.HELLO_LENGTH + hello.live().length * Long.BYTES);
        HelloDescriptor.write(out, hello, checksum);
        if (secret != null) {
            final byte[] frame = new byte[out.readableBytes()];
            out.getBytes(out.readerIndex(), frame);
            saidHello = frame;
        }
        final var unused = context.writeAndFlush(out, context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        final ByteBuf in = (ByteBuf) message;
        try {
            if (over) {
                return;
            }
            ByteBuf all = arrived;
            if (all == null) {
                all = context.alloc().directBuffer(HelloDescriptor.MAX_WELCOME, HelloDescriptor.MAX_WELCOME);
                arrived = all;
            }
            all.writeBytes(in, Math.min(in.readableBytes(), all.maxWritableBytes()));
            if (HelloDescriptor.isWhole(all, ProofDescriptor.CHALLENGE_LENGTH, HelloDescriptor.MAX_WELCOME)) {
                if (ProofDescriptor.isChallenge(all)) {
                    onChallenge(context, all, in);
                } else {
                    onWelcome(context, all, in);
                }
            }
        } catch (WireException e) {
            faults.report(e.fault(), context.channel().remoteAddress(), e.text());
            final boolean version = e.fault() == WireFault.OTHER_VERSION;
            fail(context, version ? Reason.OTHER_VERSION : Reason.UNKNOWN_PEER, e.text());
        } finally {
            in.release();
        }
    }

    private void onChallenge(ChannelHandlerContext context, ByteBuf all, ByteBuf rest) throws WireException {
        final ClusterSecret own = secret;
        final byte[] said = saidHello;
        if (own == null || said == null) {
            throw new WireException(WireFault.BAD_FRAME, "a challenge that no method asks for now");
        }
        final ByteBuffer challenge = all.nioBuffer(all.readerIndex(), ProofDescriptor.CHALLENGE_LENGTH);
        ProofDescriptor.readChallenge(all, checksum);
        if (all.isReadable() || rest.isReadable()) {
            throw new WireException(WireFault.BAD_FRAME, "it goes on before the proof");
        }
        final HandshakeProof made = HandshakeProof.of(own, ByteBuffer.wrap(said), challenge);
        proof = made;
        saidHello = null;
        all.clear();
        final ByteBuf out = context.alloc().directBuffer(ProofDescriptor.PROOF_LENGTH);
        ProofDescriptor.writeProof(out, made.ofCaller(), checksum);
        final var unused = context.writeAndFlush(out, context.voidPromise());
    }

    private void onWelcome(ChannelHandlerContext context, ByteBuf all, ByteBuf rest) throws WireException {
        final int at = all.readerIndex();
        final Welcome welcome = HelloDescriptor.readWelcome(all, checksum);
        if (welcome.status() != Refusals.ACCEPTED) {
            // Refusals before the proof carry no MAC; a caller does nothing on one but try again.
            fail(context, Refusals.reasonOf(welcome.status()), welcome.text());
            return;
        }
        final HandshakeProof own = proof;
        if (secret != null && (own == null || !own.isOfCalled(all, at))) {
            final String why =
                    "it welcomes as server " + hello.to() + ", and does not prove that it holds the cluster's secret";
            faults.report(WireFault.UNPROVEN, context.channel().remoteAddress(), why);
            fail(context, Reason.UNPROVEN, why);
            return;
        }
        goOn(context, welcome, all, rest);
    }

    /** What came behind the welcome is the next reader's. */
    private void goOn(ChannelHandlerContext context, Welcome welcome, ByteBuf all, ByteBuf in) {
        over = true;
        context.pipeline().addLast(outcome.welcomed(context, welcome));
        if (all.isReadable()) {
            context.fireChannelRead(all.readBytes(all.readableBytes()));
        }
        if (in.isReadable()) {
            context.fireChannelRead(in.readRetainedSlice(in.readableBytes()));
        }
        context.fireChannelReadComplete();
        context.pipeline().remove(this);
    }

    private void fail(ChannelHandlerContext context, Reason reason, String why) {
        if (!over) {
            over = true;
            outcome.failed(Refusals.refusal(reason, hello.to(), why));
        }
        final var unused = context.close();
    }

    /** It did not come to a connection. */
    void notConnected(Throwable cause) {
        if (!over) {
            over = true;
            outcome.failed(Refusals.refusal(Reason.UNKNOWN_PEER, hello.to(), String.valueOf(cause.getMessage())));
        }
    }

    /** It takes too long. */
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
        // One that was never connected has failed to: who dialled is told why, perhaps after this.
        if (!over && connected) {
            fail(context, Reason.CLOSED, "given up");
        }
        if (arrived != null) {
            arrived.release();
            arrived = null;
        }
    }
}
