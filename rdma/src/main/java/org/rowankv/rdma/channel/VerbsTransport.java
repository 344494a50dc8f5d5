package org.rowankv.rdma.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import org.rowankv.rdma.landing.FabricTransport;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.runtime.Clock;

/** Connections over an RDMA device, for one fabric: its NIC agent uses the device, and closes it. */
public final class VerbsTransport implements FabricTransport {
    private final VerbsIoHandler handler;

    /** @param clock measures how long the agent has been idle */
    public VerbsTransport(Verbs verbs, VerbsSettings settings, Clock clock) {
        this.handler = new VerbsIoHandler(verbs, settings, clock);
    }

    @Override
    public String name() {
        return "rdma, mode landed";
    }

    @Override
    public IoHandlerFactory handlers() {
        return unused -> handler;
    }

    @Override
    public ChannelFactory<? extends Channel> sockets() {
        return () -> new VerbsChannel(handler, null, null);
    }

    @Override
    public ChannelFactory<? extends ServerChannel> listeners() {
        return () -> new VerbsListener(handler);
    }
}
