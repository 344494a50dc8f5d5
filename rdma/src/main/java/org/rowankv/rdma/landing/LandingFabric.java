package org.rowankv.rdma.landing;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.landing.wire.FrameReader;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.landing.wire.PeerHandshakeDescriptor.PeerHello;
import org.rowankv.runtime.FaultLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fabric between servers on which the receiver's NIC agent, one thread, accepts, lands and acknowledges. Listens at one
 * address for all endpoints of this process.
 *
 * <p>Safe for any thread. This object's monitor guards the map of endpoints, and is never held while an endpoint is
 * called.
 */
public final class LandingFabric implements Fabric {
    private static final Logger LOG = LoggerFactory.getLogger(LandingFabric.class);
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 << 10, 256 << 10);
    private static final long CLOSE_PATIENCE_MS = 5000;
    /** Limit of accepted connections without admission. */
    static final int MAX_HANDSHAKES = 256;

    private static final int LONG_MESSAGES = 8;

    private final LandingFabricSettings settings;
    private final @Nullable FabricTransport transport;
    private final EventLoop nic;
    private final ChannelFactory<? extends Channel> sockets;
    private final ChannelFactory<? extends ServerChannel> listeners;
    private final AtomicReference<@Nullable Thread> nicThread = new AtomicReference<>();
    private final FaultLog<WireFault> faults;
    private final ByteBufAllocator allocator;
    private final AtomicInteger accepted = new AtomicInteger();
    /** Written by the NIC loop. */
    private final AtomicLong heldBytes = new AtomicLong();
    /** Space for {@link #LONG_MESSAGES} of the longest messages, and a SEND per connection. */
    private final long mostHeldBytes;

    private boolean relieving;
    /** Accepted and not admitted yet, the oldest first. NIC loop only. */
    private final Set<InboundHandshake> handshakes = new LinkedHashSet<>();

    private final Map<Integer, LandingEndpoint> endpoints = new HashMap<>();
    /** Accepted and dialled, from registration until close; once closed, closes every later one. */
    private final ChannelGroup connections;

    private final Channel listener;
    private boolean closed;

    /**
     * Binds and listens.
     *
     * @throws UncheckedIOException if it cannot listen at the address; the message contains it
     */
    public LandingFabric(LandingFabricSettings settings, FabricTransport transport) {
        this.settings = settings;
        this.faults = new FaultLog<>(WireFault.class, settings.clock());
        this.mostHeldBytes = mostHeld(settings);
        this.allocator = PooledByteBufAllocator.DEFAULT;
        this.transport = transport;
        this.sockets = transport.sockets();
        this.listeners = transport.listeners();
        final ThreadFactory threads = new DefaultThreadFactory("rowan-nic", true);
        final ThreadFactory remembering = task -> {
            final Thread thread = threads.newThread(task);
            nicThread.set(thread);
            return thread;
        };
        this.nic = new SingleThreadIoEventLoop(null, remembering, transport.handlers());
        this.connections = new DefaultChannelGroup(nic, true);
        try {
            this.listener = bound(begin());
        } catch (UncheckedIOException e) {
            endLoop();
            throw e;
        }
        startTicking();
        LOG.info("Listening for servers at {} ({})", listenAddress(), transport.name());
    }

    /**
     * For a caller that drives the NIC agent and has its own connections: nothing here blocks, so the address is bound
     * only after the agent has run. Such a fabric ends with its event loop; it is not closed.
     *
     * @param nic driven by the caller
     * @param sockets create outbound channels
     * @param listeners create listening channels
     * @param allocator of all buffers
     */
    public LandingFabric(
            LandingFabricSettings settings,
            EventLoop nic,
            ChannelFactory<? extends Channel> sockets,
            ChannelFactory<? extends ServerChannel> listeners,
            ByteBufAllocator allocator) {
        this.settings = settings;
        this.faults = new FaultLog<>(WireFault.class, settings.clock());
        this.mostHeldBytes = mostHeld(settings);
        this.allocator = allocator;
        this.transport = null;
        this.sockets = sockets;
        this.listeners = listeners;
        this.nic = nic;
        this.connections = new DefaultChannelGroup(nic, true);
        this.listener = begin().channel();
        startTicking();
    }

    private static long mostHeld(LandingFabricSettings settings) {
        return (long) LONG_MESSAGES * settings.maxRpc() + (long) settings.maxConnections() * settings.maxMessage();
    }

    private void startTicking() {
        // More often than heartbeats, so that silence is detected in time.
        final long periodMs = Math.max(1, settings.heartbeatMs() / 4);
        final var unused = nic.scheduleAtFixedRate(this::tick, periodMs, periodMs, TimeUnit.MILLISECONDS);
    }

    private ChannelFuture begin() {
        final ServerBootstrap bootstrap = new ServerBootstrap()
                .group(nic)
                .channelFactory(listeners)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(new Accepting());
        if (transport != null) {
            transport.prepare(bootstrap);
        }
        return bootstrap.bind(settings.listen());
    }

    private Channel bound(ChannelFuture binding) {
        if (!binding.awaitUninterruptibly().isSuccess()) {
            throw new UncheckedIOException(new IOException(
                    "cannot listen for servers at " + settings.listen() + ": "
                            + binding.cause().getMessage(),
                    binding.cause()));
        }
        // Behind the acceptor, which pauses for a second after each failure.
        binding.channel().pipeline().addLast(new AcceptBackoff());
        return binding.channel();
    }

    /**
     * Starts a handshake on every accepted connection. Admitted ones count against the settings' limit; those in the
     * handshake are few, and the oldest of too many is closed. So unproved connections exclude no peer.
     */
    private final class Accepting extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel channel) {
            final long nowNs = now(); // first: a reader of the count must see the start time
            channel.closeFuture().addListener(gone -> accepted.decrementAndGet());
            final int admitted = accepted.getAndIncrement() - handshakes.size();
            if (admitted >= settings.maxConnections()) {
                faults.report(
                        WireFault.TOO_MANY_CONNECTIONS,
                        channel.remoteAddress(),
                        WireFault.TOO_MANY_CONNECTIONS.text() + ": " + settings.maxConnections());
                final var unused = channel.close();
                return;
            }
            dropOldestHandshakes();
            channel.pipeline().addLast(new InboundHandshake(LandingFabric.this, nowNs));
            connections.add(channel);
        }
    }

    private void dropOldestHandshakes() {
        final int most = Math.min(MAX_HANDSHAKES, settings.maxConnections());
        final Iterator<InboundHandshake> oldest = handshakes.iterator();
        while (handshakes.size() >= most) {
            final InboundHandshake each = oldest.next();
            oldest.remove();
            each.displace(most);
        }
    }

    /** Adds the handshake to an outbound connection. On its event loop, so it is closed there if the fabric is. */
    private final class Dialling extends ChannelInitializer<Channel> {
        private final OutboundHandshake handshake;

        Dialling(OutboundHandshake handshake) {
            this.handshake = handshake;
        }

        @Override
        protected void initChannel(Channel channel) {
            channel.pipeline().addLast(handshake);
            connections.add(channel);
        }
    }

    void dial(PeerHello hello, EventLoop loop, OutboundHandshake handshake) {
        dial(hello, loop, sockets, handshake);
    }

    /** On a worker's event loop, or on the NIC agent if that has ended. */
    void dial(PeerHello hello, IoPoller io, OutboundHandshake handshake) {
        if (transport == null || !transport.whileOpen(io, (loop, channels) -> dial(hello, loop, channels, handshake))) {
            dial(hello, nic, handshake);
        }
    }

    private void dial(
            PeerHello hello, EventLoop loop, ChannelFactory<? extends Channel> factory, OutboundHandshake handshake) {
        final InetSocketAddress address = settings.peers().addressOf(hello.to());
        if (address == null) {
            handshake.notConnected(new IOException("no address of it is known"));
            return;
        }
        final Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channelFactory(factory)
                .option(ChannelOption.ALLOCATOR, allocator)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectTimeoutMs())
                .handler(new Dialling(handshake));
        if (transport != null) {
            transport.prepare(bootstrap);
        }
        bootstrap.connect(address).addListener(connected -> {
            if (connected.isSuccess()) {
                final var unused =
                        loop.schedule(handshake::timeOut, settings.connectTimeoutMs(), TimeUnit.MILLISECONDS);
            } else {
                handshake.notConnected(connected.cause());
            }
        });
    }

    @Override
    public FabricCapabilities capabilities() {
        return new FabricCapabilities(settings.maxMessage(), settings.ackLevel());
    }

    @Override
    public Endpoint open(EndpointSettings endpointSettings) {
        return openEndpoint(endpointSettings);
    }

    /** As {@link #open}, with the concrete type. */
    public LandingEndpoint openEndpoint(EndpointSettings endpointSettings) {
        return openEndpoint(endpointSettings, null);
    }

    /** @param leases if senders place their entries themselves; null if not */
    public LandingEndpoint openEndpoint(EndpointSettings endpointSettings, @Nullable SegmentLeases leases) {
        endpointSettings.conclude(settings.ackLevel());
        final int serverId = endpointSettings.serverId();
        final LandingEndpoint former = endpoint(serverId);
        if (former != null) {
            if (former.settings().incarnation() == endpointSettings.incarnation()) {
                throw alreadyOpen(serverId);
            }
            former.close();
        }
        synchronized (this) {
            if (closed) {
                throw new FabricException(Reason.CLOSED, "the fabric is closed");
            }
            if (endpoints.containsKey(serverId)) {
                throw alreadyOpen(serverId);
            }
            final LandingEndpoint endpoint = new LandingEndpoint(this, settings, endpointSettings, leases);
            endpoints.put(serverId, endpoint);
            return endpoint;
        }
    }

    private static FabricException alreadyOpen(int serverId) {
        return new FabricException(Reason.CLOSED, "server " + serverId + " is open already in this process");
    }

    /**
     * Closes all endpoints and connections, and ends the thread; nothing is left on return. Must not be called on that
     * thread.
     */
    @Override
    public void close() {
        final List<LandingEndpoint> open;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            open = new ArrayList<>(endpoints.values());
        }
        listener.close().awaitUninterruptibly();
        open.forEach(LandingEndpoint::close);
        closeConnections();
        endLoop();
    }

    /**
     * Closes remaining channels: also fenced connections that wait for their sender, and handshakes. A shut-down event
     * loop would not: if it is shut down while it runs its tasks, without a quiet period, it closes only what these
     * tasks close, and drops timers; descriptors would stay open.
     */
    private void closeConnections() {
        // An owner's event loop may have ended, or may be the waiting thread: its connections are not awaited.
        final var unused = connections.close(channel -> channel.eventLoop() != nic);
        connections.close(channel -> channel.eventLoop() == nic).awaitUninterruptibly();
    }

    private void endLoop() {
        final var unused = nic.shutdownGracefully(0, CLOSE_PATIENCE_MS, TimeUnit.MILLISECONDS);
        final Thread thread = nicThread.get();
        boolean interrupted = false;
        while (!nic.isTerminated() || thread != null && thread.isAlive()) {
            try {
                if (!nic.awaitTermination(CLOSE_PATIENCE_MS, TimeUnit.MILLISECONDS)) {
                    LOG.warn("ROWAN-3001 The NIC agent has not ended yet");
                } else if (thread != null) {
                    thread.join(CLOSE_PATIENCE_MS);
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The address where this process listens, with the actual port. */
    public InetSocketAddress listenAddress() {
        return (InetSocketAddress) listener.localAddress();
    }

    /** Required type of event loops for queue pairs. */
    public FabricTransport transport() {
        if (transport == null) {
            throw new IllegalStateException("its connections are the caller's own");
        }
        return transport;
    }

    /** Bytes of incomplete frames on all accepted connections. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Number of peers disconnected for that. */
    public long faults(WireFault fault) {
        return faults.count(fault);
    }

    /** Open connections that other servers have opened. */
    public int acceptedConnections() {
        return accepted.get();
    }

    public LandingFabricSettings settings() {
        return settings;
    }

    /** Runs a task on the NIC agent; dropped while the fabric is closing. */
    void onNic(Runnable task) {
        execute(nic, task);
    }

    /** Runs a task on an event loop; dropped if that, and so every connection on it, has ended. */
    static void execute(EventLoop loop, Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("Event loop ended; task dropped", e);
        }
    }

    private void tick() {
        try {
            lookAfterEverybody();
        } catch (RuntimeException e) {
            // A periodic task that throws would not run again, and silence would go unnoticed.
            LOG.error("ROWAN-3002 Check of the connections failed", e);
        }
    }

    private void lookAfterEverybody() {
        final long nowNs = now();
        open().forEach(endpoint -> endpoint.tick(nowNs));
        List.copyOf(handshakes).forEach(each -> each.tick(nowNs, settings.connectTimeoutMs() * 1_000_000L));
    }

    /** Adjusts the count of bytes in incomplete frames. On the NIC loop. */
    void held(int delta) {
        final long now = heldBytes.addAndGet(delta);
        if (delta > 0 && now > mostHeldBytes && !relieving) {
            relieving = true;
            onNic(this::relieve); // after the current read
        }
    }

    /** Ends connections until the limit holds, starting with the largest incomplete frame. */
    private void relieve() {
        relieving = false;
        while (heldBytes.get() > mostHeldBytes) {
            final Optional<FrameReader> largest = open().stream()
                    .flatMap(LandingEndpoint::holders)
                    .filter(each -> each.heldBytes() > 0)
                    .max(Comparator.comparingInt(FrameReader::heldBytes));
            if (largest.isEmpty()) {
                return;
            }
            largest.get().endForMemory();
        }
    }

    private synchronized List<LandingEndpoint> open() {
        return List.copyOf(endpoints.values());
    }

    private long now() {
        return settings.clock().nanoTime();
    }

    void begun(InboundHandshake handshake) {
        handshakes.add(handshake);
    }

    void ended(InboundHandshake handshake) {
        handshakes.remove(handshake);
    }

    boolean knows(int serverId) {
        return settings.peers().addressOf(serverId) != null;
    }

    synchronized @Nullable LandingEndpoint endpoint(int serverId) {
        return endpoints.get(serverId);
    }

    synchronized void closed(LandingEndpoint endpoint) {
        endpoints.remove(endpoint.settings().serverId(), endpoint);
    }

    PeerAuthentication authentication() {
        return settings.authentication();
    }

    FaultLog<WireFault> faults() {
        return faults;
    }

    /** Of the NIC agent. */
    public EventLoop nic() {
        return nic;
    }

    ByteBufAllocator allocator() {
        return allocator;
    }
}
