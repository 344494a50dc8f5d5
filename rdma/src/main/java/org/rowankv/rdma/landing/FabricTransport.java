package org.rowankv.rdma.landing;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import java.util.function.BiConsumer;
import org.rowankv.rdma.IoPoller;

/**
 * What carries the bytes of a fabric's connections: one kind of I/O, and its channels. Event loops of other kinds are
 * incompatible.
 */
public interface FabricTransport {

    /** For logs. */
    String name();

    /** Handlers of the NIC agent's I/O. */
    IoHandlerFactory handlers();

    /** Channels to connect. */
    ChannelFactory<? extends Channel> sockets();

    /** Channels to listen. */
    ChannelFactory<? extends ServerChannel> listeners();

    /** Sets the options of listening channels, and of those they accept. */
    default void prepare(ServerBootstrap bootstrap) {}

    /** Sets the options of connecting channels. */
    default void prepare(Bootstrap bootstrap) {}

    /**
     * Passes the event loop of a worker's own I/O, with channels for it, to a connecting caller.
     *
     * @return false if that I/O carries no queue pairs of this transport, or has ended
     */
    default boolean whileOpen(IoPoller io, BiConsumer<EventLoop, ChannelFactory<? extends Channel>> connecting) {
        return false;
    }
}
