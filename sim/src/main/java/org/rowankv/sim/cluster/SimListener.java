package org.rowankv.sim.cluster;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/** The server socket of a simulated process. */
final class SimListener extends AbstractServerChannel {
    private final SimNetworkLinks wire;
    private final SimProcess process;
    private final ChannelConfig config = new DefaultChannelConfig(this);
    private @Nullable InetSocketAddress bound;
    private boolean open = true;

    SimListener(SimNetworkLinks wire, SimProcess process) {
        this.wire = wire;
        this.process = process;
    }

    SimProcess process() {
        return process;
    }

    /** Accepts a connection. On its event loop. */
    void accept(SimChannel accepted) {
        pipeline().fireChannelRead(accepted);
        pipeline().fireChannelReadComplete();
    }

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
        return open && bound != null;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof SimNic;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return bound;
    }

    @Override
    protected void doBind(SocketAddress address) {
        bound = (InetSocketAddress) address;
        wire.listens(bound.getPort(), this);
    }

    @Override
    protected void doClose() {
        open = false;
    }

    @Override
    protected void doBeginRead() {
        // Every connection is accepted.
    }
}
