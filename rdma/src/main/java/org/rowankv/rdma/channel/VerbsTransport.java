package org.rowankv.rdma.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import java.nio.ByteBuffer;
import org.rowankv.rdma.landing.FabricTransport;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.runtime.Clock;

/** Connections over an RDMA device, for one fabric: its NIC agent uses the device, and closes it. */
public final class VerbsTransport implements FabricTransport {
    private final VerbsIoHandler handler;

    /** @param clock measures how long the agent has been idle */
    public VerbsTransport(Verbs verbs, VerbsSettings settings, Clock clock) {
        this.handler = new VerbsIoHandler(verbs, settings, clock);
    }

    /** For WRITEs from it. On the event loop, once it listens; as long as the device is open. */
    public RegisteredMemory register(ByteBuffer memory) throws VerbsException {
        return handler.register(memory);
    }

    /** As {@link #register}; the other ends may write it. */
    public ExposedMemory expose(ByteBuffer memory) throws VerbsException {
        return handler.expose(memory);
    }

    @Override
    public String name() {
        return handler.settings().oneSided() > 0 ? "rdma, mode leased" : "rdma, mode landed";
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
