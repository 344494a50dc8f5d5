package org.rowankv.rdma.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.tcp.HelloDescriptor.Hello;
import org.rowankv.rdma.tcp.HelloDescriptor.Welcome;
import org.rowankv.runtime.FaultLog;

/** Says hello on a connection that we opened, and waits for the welcome. On the connection's event loop. */
final class OutboundHandshake extends ChannelInboundHandlerAdapter {
    private final Hello hello;
    private final FaultLog<WireFault> faults;
    private final Outcome outcome;
    private final WireChecksum checksum = new WireChecksum();
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

    OutboundHandshake(Hello hello, FaultLog<WireFault> faults, Outcome outcome) {
        this.hello = hello;
        this.faults = faults;
        this.outcome = outcome;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        connected = true;
        final ByteBuf out =
                context.alloc().directBuffer(HelloDescriptor.HELLO_LENGTH + hello.live().length * Long.BYTES);
        HelloDescriptor.write(out, hello, checksum);
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
            if (HelloDescriptor.isWhole(all, HelloDescriptor.WELCOME_LENGTH, HelloDescriptor.MAX_WELCOME)) {
                final Welcome welcome = HelloDescriptor.readWelcome(all, checksum);
                if (welcome.status() == Refusals.ACCEPTED) {
                    goOn(context, welcome, all, in);
                } else {
                    fail(context, Refusals.reasonOf(welcome.status()), welcome.text());
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
