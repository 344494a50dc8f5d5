package org.rowankv.sim.cluster;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/**
 * One end of a simulated connection. Written data travels in chunks of any size, and is read once it has arrived and a
 * read is requested.
 */
final class SimChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);
    /** Bytes in flight before a writer has to wait, like the buffers of a TCP connection. */
    private static final int WINDOW = 64 << 10;

    private final SimNetworkLinks wire;
    private final SimProcess process;
    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final Flow incoming = new Flow();
    private @Nullable SimChannel peer;
    private @Nullable InetSocketAddress remote;
    private boolean open = true;
    private boolean active;
    private boolean readRequested;
    private boolean isBlocked;
    /** It breaks at a write of at least this many bytes; 0: never. */
    private int breaksWith;

    /** @param parent of an accepted one; null for one that connects */
    SimChannel(SimNetworkLinks wire, SimProcess process, @Nullable Channel parent) {
        super(parent);
        this.wire = wire;
        this.process = process;
    }

    SimProcess process() {
        return process;
    }

    @Nullable
    SimChannel peer() {
        return peer;
    }

    Flow incoming() {
        return incoming;
    }

    void breakWith(int bytes) {
        breaksWith = bytes;
    }

    /** Whether it breaks at a write of this many bytes. */
    boolean breaksWith(int bytes) {
        if (breaksWith == 0 || bytes < breaksWith) {
            return false;
        }
        breaksWith = 0;
        return true;
    }

    /** Connects the two ends. */
    void pair(SimChannel other) {
        peer = other;
        active = true;
    }

    // --- arrivals, on its event loop ---

    /** Time of the next external event. */
    long nextNs() {
        return Math.min(incoming.resetAtNs(), readRequested ? incoming.nextNs() : Task.NEVER);
    }

    void arrive() {
        final long nowNs = wire.nowNs();
        if (incoming.resetAtNs() <= nowNs) {
            pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
            unsafe().close(voidPromise());
            return;
        }
        final byte[] bytes = incoming.arrived(nowNs);
        if (bytes == null) {
            unsafe().close(voidPromise());
            return;
        }
        readRequested = false;
        pipeline().fireChannelRead(alloc().directBuffer(bytes.length).writeBytes(bytes));
        pipeline().fireChannelReadComplete();
        final SimChannel other = peer;
        if (other != null) {
            other.hasRoom();
        }
    }

    private void hasRoom() {
        if (isBlocked) {
            isBlocked = false;
            eventLoop().execute(() -> unsafe().flush());
        }
    }

    // --- Netty's interface ---

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public boolean isActive() {
        return open && active;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimNic;
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        ((SimNic) eventLoop()).joined(this);
        promise.setSuccess();
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return null;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    protected void doBind(SocketAddress address) {
        throw new UnsupportedOperationException("it connects");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doClose() {
        if (open) {
            open = false;
            if (isRegistered()) {
                ((SimNic) eventLoop()).left(this);
            }
            wire.closed(this);
        }
    }

    @Override
    protected void doBeginRead() {
        readRequested = true;
        process.nic().changed();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
        final SimChannel other = peer;
        while (out.current() instanceof ByteBuf buffer) {
            if (other != null && other.incoming.underWay() >= WINDOW) {
                isBlocked = true;
                return;
            }
            final byte[] bytes = new byte[buffer.readableBytes()];
            buffer.readBytes(bytes);
            out.remove();
            if (other != null && bytes.length > 0) {
                wire.carry(this, other, bytes);
            }
        }
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Connecting();
    }

    private final class Connecting extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress to, @Nullable SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            remote = (InetSocketAddress) to;
            wire.connect(SimChannel.this, remote.getPort(), new SimNetworkLinks.Outcome() {
                @Override
                public void connected() {
                    if (!open) {
                        return;
                    }
                    final boolean was = promise.trySuccess();
                    pipeline().fireChannelActive();
                    if (!was) {
                        close(voidPromise());
                    }
                }

                @Override
                public void refused(String why) {
                    if (open) {
                        final boolean unused = promise.tryFailure(new ConnectException(why));
                        close(voidPromise());
                    }
                }
            });
        }
    }
}
