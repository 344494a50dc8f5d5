package org.rowankv.rdma.tcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.function.BiConsumer;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.landing.FabricTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;

/**
 * TCP sockets, in one of two kinds of I/O.
 *
 * @param name for logs: epoll or nio
 */
public record TcpTransport(
        String name,
        IoHandlerFactory handlers,
        ChannelFactory<? extends Channel> sockets,
        ChannelFactory<? extends ServerChannel> listeners)
        implements FabricTransport {

    /** Epoll if requested and available, NIO otherwise. */
    public static TcpTransport choose(boolean preferNative) {
        return preferNative && Epoll.isAvailable()
                ? new TcpTransport(
                        "epoll", EpollIoHandler.newFactory(), EpollSocketChannel::new, EpollServerSocketChannel::new)
                : new TcpTransport(
                        "nio", NioIoHandler.newFactory(), NioSocketChannel::new, NioServerSocketChannel::new);
    }

    /**
     * Opens a fabric on the best kind that is available.
     *
     * @throws java.io.UncheckedIOException if it cannot listen at the address
     */
    public static LandingFabric open(LandingFabricSettings settings) {
        return new LandingFabric(settings, choose(true));
    }

    @Override
    public void prepare(ServerBootstrap bootstrap) {
        bootstrap
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.SO_BACKLOG, 256)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true);
    }

    @Override
    public void prepare(Bootstrap bootstrap) {
        bootstrap.option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.SO_KEEPALIVE, true);
    }

    @Override
    public boolean whileOpen(IoPoller io, BiConsumer<EventLoop, ChannelFactory<? extends Channel>> connecting) {
        return io instanceof TcpIoPoller own && own.whileOpen(loop -> connecting.accept(loop, NioSocketChannel::new));
    }
}
