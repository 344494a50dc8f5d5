package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first bytes of a connection that somebody opened to us. Nobody is trusted: little is kept, nothing is allocated by
 * what is announced, and it must be over in time. On the NIC agent's event loop.
 */
final class InboundHandshake extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(InboundHandshake.class);

    private final TcpFabric fabric;
    private final WireChecksum checksum = new WireChecksum();
    private final long sinceNs;
    private @Nullable ByteBuf arrived;
    private @Nullable ChannelHandlerContext context;
    private boolean over;
    /** Challenged, and not proved yet. */
    private @Nullable Hello hello;
    /** What the caller has to prove; null with method none. */
    private @Nullable HandshakeProof proof;
    /** The caller has proved it: answers carry this end's MAC. */
    private boolean proved;

    InboundHandshake(TcpFabric fabric, long sinceNs) {
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
        if (arrived != null) {
            arrived.release();
            arrived = null;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext here, Object message) {
        final ByteBuf in = (ByteBuf) message;
        try {
            if (over) {
                return;
            }
            ByteBuf all = arrived;
            if (all == null) {
                all = here.alloc().directBuffer(HelloDescriptor.HELLO_LENGTH, HelloDescriptor.MAX_HELLO + 1);
                arrived = all;
            }
            all.writeBytes(in, Math.min(in.readableBytes(), all.maxWritableBytes()));
            read(here, all, in);
        } catch (WireException e) {
            fail(here, e);
        } finally {
            in.release();
        }
    }

    private void read(ChannelHandlerContext here, ByteBuf all, ByteBuf rest) throws WireException {
        final Hello challenged = hello;
        if (challenged == null) {
            if (HelloDescriptor.isWhole(all, HelloDescriptor.HELLO_LENGTH, HelloDescriptor.MAX_HELLO)) {
                final ByteBuffer frame = all.nioBuffer();
                final Hello whole = HelloDescriptor.readHello(all, checksum);
                requireEnd(all, rest);
                all.clear(); // the frame's bytes stay until the next are read
                onHello(here, whole, frame);
            }
        } else if (HelloDescriptor.isWhole(all, ProofDescriptor.PROOF_LENGTH, ProofDescriptor.PROOF_LENGTH)) {
            final byte[] mac = ProofDescriptor.readProof(all, checksum);
            requireEnd(all, rest);
            onProof(here, challenged, mac);
        }
    }

    private static void requireEnd(ByteBuf all, ByteBuf rest) throws WireException {
        if (all.isReadable() || rest.isReadable()) {
            throw new WireException(WireFault.BAD_FRAME, "it goes on before it was answered");
        }
    }

    private void onHello(ChannelHandlerContext here, Hello whole, ByteBuffer frame) throws WireException {
        final PeerAuthentication authentication = fabric.authentication();
        final String why = authentication.whyRefused(whole.method());
        if (why != null) {
            fabric.faults().report(WireFault.OTHER_METHOD, here.channel().remoteAddress(), why);
            refuse(here, Welcome.refusal(Refusals.statusOf(Reason.UNPROVEN), 0, 0, why));
            return;
        }
        final ClusterSecret secret = authentication.secret();
        if (secret == null) {
            over = true;
            answer(here, whole);
            return;
        }
        hello = whole;
        final ByteBuf challenge = here.alloc().directBuffer(ProofDescriptor.CHALLENGE_LENGTH);
        ProofDescriptor.writeChallenge(challenge, authentication.draw(), authentication.draw(), checksum);
        proof = HandshakeProof.of(secret, frame, challenge.nioBuffer());
        final var unused = here.writeAndFlush(challenge, here.voidPromise());
    }

    private void onProof(ChannelHandlerContext here, Hello challenged, byte[] mac) throws WireException {
        final HandshakeProof expected = proof;
        if (expected == null || !expected.isOfCaller(mac)) {
            final String why = "it says that it is server " + challenged.from()
                    + ", and does not prove that it holds the cluster's secret";
            fabric.faults().report(WireFault.UNPROVEN, here.channel().remoteAddress(), why);
            refuse(
                    here,
                    Welcome.refusal(
                            Refusals.statusOf(Reason.UNPROVEN), 0, 0, "the proof is wrong: it has another secret"));
            return;
        }
        over = true;
        proved = true;
        answer(here, challenged);
    }

    private void answer(ChannelHandlerContext here, Hello whole) throws WireException {
        try {
            final TcpEndpoint endpoint = fabric.endpoint(whole.to());
            if (endpoint == null) {
                throw Refusals.refusal(Reason.UNKNOWN_PEER, whole.to(), "it is not open");
            }
            endpoint.accept(whole, here, this);
        } catch (FabricException e) {
            refuse(here, Welcome.refusal(Refusals.statusOf(e.reason()), 0, 0, String.valueOf(e.getMessage())));
        }
    }

    /** Accepts: from now on that reader has the connection. */
    void accept(ChannelHandlerContext here, Welcome welcome, FrameReader reader) {
        here.pipeline().addLast(reader);
        final var unused = here.writeAndFlush(bytes(here, welcome), here.voidPromise());
        here.pipeline().remove(this);
    }

    private void refuse(ChannelHandlerContext here, Welcome welcome) {
        over = true;
        here.writeAndFlush(bytes(here, welcome)).addListener(written -> {
            final var unused = here.close();
        });
    }

    /** With this end's MAC, if the caller has proved itself. */
    private ByteBuf bytes(ChannelHandlerContext here, Welcome welcome) {
        final ByteBuf out = here.alloc().directBuffer(HelloDescriptor.WELCOME_LENGTH);
        HelloDescriptor.write(out, welcome, checksum);
        final HandshakeProof own = proof;
        if (own != null && proved) {
            own.sign(out, 0, checksum);
        }
        return out;
    }

    private void fail(ChannelHandlerContext here, WireException e) {
        fabric.faults().report(e.fault(), here.channel().remoteAddress(), e.text());
        if (e.fault() == WireFault.OTHER_VERSION) {
            refuse(here, Welcome.refusal(Refusals.statusOf(Reason.OTHER_VERSION), 0, 0, e.text()));
        } else {
            over = true;
            final var unused = here.close();
        }
    }

    /** Ends a handshake that takes too long. */
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

    /** Closes it: it is the oldest of too many. Its fabric does not hold it any more. */
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
                    "The handshake of {} is broken off after a failure",
                    here.channel().remoteAddress(),
                    cause);
        }
        final var unused = here.close();
    }
}
