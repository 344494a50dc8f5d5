package org.rowankv.rdma.tcp;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/**
 * The classes of one kind of I/O; different kinds are incompatible.
 *
 * @param name for logs: epoll or nio
 */
public record TcpTransport(
        String name,
        IoHandlerFactory handlers,
        Class<? extends SocketChannel> socket,
        Class<? extends ServerSocketChannel> serverSocket) {

    /** Epoll if requested and available, NIO otherwise. */
    public static TcpTransport choose(boolean preferNative) {
        return preferNative && Epoll.isAvailable()
                ? new TcpTransport(
                        "epoll", EpollIoHandler.newFactory(), EpollSocketChannel.class, EpollServerSocketChannel.class)
                : new TcpTransport(
                        "nio", NioIoHandler.newFactory(), NioSocketChannel.class, NioServerSocketChannel.class);
    }
}
