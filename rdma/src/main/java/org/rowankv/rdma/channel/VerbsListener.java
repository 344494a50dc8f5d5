package org.rowankv.rdma.channel;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.VerbsException;

/** The listening end at an address of an RDMA interface. */
final class VerbsListener extends AbstractServerChannel {
    private static final int BACKLOG = 256;

    private final VerbsIoHandler handler;
    private final ChannelConfig config = new DefaultChannelConfig(this);
    private volatile @Nullable InetSocketAddress bound;
    private volatile boolean open = true;

    VerbsListener(VerbsIoHandler handler) {
        this.handler = handler;
    }

    /** Passes on an accepted connection. On the event loop. */
    void accept(VerbsChannel accepted) {
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
        return handler.isOf(loop);
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return bound;
    }

    @Override
    protected void doBind(SocketAddress address) throws VerbsException {
        bound = handler.listen(this, (InetSocketAddress) address, BACKLOG);
    }

    @Override
    protected void doClose() {
        open = false;
        handler.listensNoMore();
    }

    @Override
    protected void doBeginRead() {
        // Every connection is accepted.
    }
}
