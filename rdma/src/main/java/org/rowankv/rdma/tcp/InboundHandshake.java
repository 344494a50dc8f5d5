package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.tcp.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.HelloDescriptor.Welcome;
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
            if (HelloDescriptor.isWhole(all, HelloDescriptor.HELLO_LENGTH, HelloDescriptor.MAX_HELLO)) {
                final Hello hello = HelloDescriptor.readHello(all, checksum);
                if (all.isReadable() || in.isReadable()) {
                    throw new WireException(WireFault.BAD_FRAME, "it goes on before it was answered");
                }
                over = true;
                answer(here, hello);
            }
        } catch (WireException e) {
            fail(here, e);
        } finally {
            in.release();
        }
    }

    private void answer(ChannelHandlerContext here, Hello hello) throws WireException {
        try {
            final TcpEndpoint endpoint = fabric.endpoint(hello.to());
            if (endpoint == null) {
                throw Refusals.refusal(Reason.UNKNOWN_PEER, hello.to(), "it is not open");
            }
            endpoint.accept(hello, here, this);
        } catch (FabricException e) {
            refuse(here, Welcome.refusal(Refusals.statusOf(e.reason()), 0, 0, String.valueOf(e.getMessage())));
        }
    }

    /** Accepts: from now on that reader has the connection. */
    void accept(ChannelHandlerContext here, Welcome welcome, FrameReader reader) {
        here.pipeline().addLast(reader);
        final ByteBuf out = here.alloc().directBuffer(HelloDescriptor.WELCOME_LENGTH);
        HelloDescriptor.write(out, welcome, checksum);
        final var unused = here.writeAndFlush(out, here.voidPromise());
        here.pipeline().remove(this);
    }

    private void refuse(ChannelHandlerContext here, Welcome welcome) {
        over = true;
        final ByteBuf out = here.alloc().directBuffer(HelloDescriptor.WELCOME_LENGTH);
        HelloDescriptor.write(out, welcome, checksum);
        here.writeAndFlush(out).addListener(written -> {
            final var unused = here.close();
        });
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
