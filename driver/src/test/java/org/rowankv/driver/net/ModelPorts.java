package org.rowankv.driver.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.rowankv.driver.ModelSession;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.BufferAccounting;
import org.rowankv.protocol.frame.FrameDecoder;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.FrameMemory;
import org.rowankv.protocol.frame.HandshakeInput;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WirePort;
import org.rowankv.protocol.wire.BytesFrame;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor;
import org.rowankv.protocol.wire.ClientHandshakeDescriptor.ClientWelcome;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.protocol.wire.ResponseDescriptor;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.RoutingDescriptor;
import org.rowankv.topology.ShardAssignment;

/**
 * Minimal servers for clients over TCP: each port has a thread per connection, and all serve one {@link ModelSession}.
 * A server serves the shards whose primary it is. Thread-safe.
 */
final class ModelPorts implements AutoCloseable {
    /** Stores the changes of each shard for subscribers. */
    @FunctionalInterface
    interface Changes {
        /** Everything after a position; an empty section at that position if there is nothing. */
        Section after(int index, int shard, long position);
    }

    private static final long PAUSE_NS = 5_000_000;

    private final ModelSession model;
    private final int maxFrame;
    private final KeyHash keyHash;
    private final List<ServerSocketChannel> listeners = new ArrayList<>();
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private volatile Changes changes =
            (index, shard, position) -> new Section(index, Status.OK, position, 0, Math.max(0, position), List.of());
    private volatile Routing routing;
    /** Ports that take requests and answer nothing. */
    private final Set<Integer> silent = ConcurrentHashMap.newKeySet();
    /** Requests that were applied, or refused, without an answer. */
    private final AtomicInteger unanswered = new AtomicInteger();
    /** Requests for the routing. */
    private final AtomicInteger routingRequests = new AtomicInteger();
    // --- guarded by this ---
    private boolean holds;
    private int held;

    /** @param count of addresses; the first is that of the only server, until {@link #place} */
    ModelPorts(ModelSession model, int count, int maxFrame) throws IOException {
        this.model = model;
        this.maxFrame = maxFrame;
        this.keyHash = new KeyHash(model.configuration().hashSeed());
        for (int i = 0; i < count; i++) {
            final ServerSocketChannel listener =
                    ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            listeners.add(listener);
        }
        this.routing = new Routing(model.configuration(), List.of(address(0)));
        for (int i = 0; i < count; i++) {
            final int port = i;
            start(() -> accept(port), "model port " + i);
        }
    }

    private static void start(Runnable task, String name) {
        final Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    String address(int port) {
        return "127.0.0.1:" + listeners.get(port).socket().getLocalPort();
    }

    void tell(Changes newChanges) {
        changes = newChanges;
    }

    /**
     * Moves servers and roles, in a higher term.
     *
     * @param ports by server, its port
     * @param primaries by shard, a server
     */
    void place(List<Integer> ports, List<Integer> primaries) {
        final Configuration now = routing.configuration();
        final List<ShardAssignment> shards = new ArrayList<>();
        for (int shard = 0; shard < now.shardCount(); shard++) {
            shards.add(new ShardAssignment(now.shard(shard).epoch(), primaries.get(shard), new int[0]));
        }
        final List<Long> incarnations = ports.stream().map(port -> 1L).toList();
        routing = new Routing(
                new Configuration(now.clusterId(), now.hashSeed(), now.term() + 1, incarnations, shards),
                ports.stream().map(this::address).toList());
    }

    /** From now on the port applies what it receives, and answers nothing, as a server that is stopped afterwards. */
    void silence(int port) {
        silent.add(port);
    }

    int unanswered() {
        return unanswered.get();
    }

    int routingRequests() {
        return routingRequests.get();
    }

    /** Closes the port and its connections, as a process that ends does. */
    void kill(int port) throws IOException {
        listeners.get(port).close();
        for (Link link : links) {
            if (link.port == port) {
                link.channel.close();
            }
        }
    }

    /** Sends the routing to every client, on all connections that answer. */
    void push() {
        final byte[] bytes = RoutingDescriptor.encode(routing);
        for (Link link : links) {
            link.send(to -> BytesFrame.write(to, ClientFrameDescriptor.ROUTING, 0, bytes));
        }
    }

    /** From now on a change request without results waits for {@link #release}. */
    synchronized void hold() {
        holds = true;
    }

    /** Requests that wait. */
    synchronized int held() {
        return held;
    }

    /** Answers the waiting requests as if nothing had changed since they arrived. */
    synchronized void release() {
        holds = false;
        notifyAll();
    }

    /** Waits while requests are held; returns whether they were. */
    private synchronized boolean isHeld() {
        final boolean waits = holds;
        held++;
        try {
            while (holds) {
                wait();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            held--;
        }
        return waits;
    }

    long term() {
        return routing.term();
    }

    /** Open connections. */
    int connections() {
        return links.size();
    }

    /** Unexpected failures. */
    List<Throwable> failures() {
        return failures;
    }

    private void accept(int port) {
        final ServerSocketChannel listener = listeners.get(port);
        try {
            while (listener.isOpen()) {
                final Link link = new Link(port, listener.accept());
                links.add(link);
                start(link, "model connection to port " + port);
            }
        } catch (IOException e) {
            if (listener.isOpen()) {
                failures.add(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (ServerSocketChannel listener : listeners) {
            listener.close();
        }
        for (Link link : links) {
            link.channel.close();
        }
    }

    /** One connection. */
    private final class Link implements Runnable, FrameDecoder.Taker {
        private final int port;
        private final SocketChannel channel;
        private final FrameEncoder out = new FrameEncoder(1 << 10);
        private final Request request = new Request();

        Link(int port, SocketChannel channel) {
            this.port = port;
            this.channel = channel;
        }

        @Override
        public void run() {
            final ByteBuffer in = ByteBuffer.allocate(64 << 10).order(ByteOrder.LITTLE_ENDIAN);
            final FrameDecoder cutter = new FrameDecoder(
                    WirePort.CLIENTS, type -> maxFrame, FrameMemory.onHeap(BufferAccounting.UNCOUNTED));
            final HandshakeInput hello =
                    new HandshakeInput(WirePort.CLIENTS, true, ClientHandshakeDescriptor.MAX_HELLO);
            boolean welcomed = false;
            try (channel) {
                while (channel.read(in) >= 0) {
                    if (!welcomed) {
                        in.flip();
                        welcomed = hello.take(in);
                        in.clear(); // A client sends nothing before its welcome.
                        if (!welcomed) {
                            continue;
                        }
                        ClientHandshakeDescriptor.readHello(hello.frame());
                        if (silent.contains(port)) {
                            continue;
                        }
                        send(to -> to.append(ClientHandshakeDescriptor.welcome(new ClientWelcome(
                                model.configuration().clusterId(), routing.term(), 0, maxFrame, 64))));
                        continue;
                    }
                    in.flip();
                    cutter.take(in, this);
                    in.clear();
                }
            } catch (IOException e) {
                // The client, or the end of the test, closed it.
            } catch (WireException | RuntimeException e) {
                failures.add(e);
            } finally {
                links.remove(this);
            }
        }

        private synchronized void send(Consumer<FrameEncoder> frames) {
            if (silent.contains(port)) {
                unanswered.incrementAndGet();
                return;
            }
            try {
                frames.accept(out);
                while (!out.writeTo(channel)) {
                    Thread.onSpinWait();
                }
            } catch (IOException e) {
                out.release(); // The reader of the connection sees it.
            }
        }

        @Override
        public boolean onFrame(ByteBuffer buffer, int at, int length) throws WireException {
            final long number = FrameHeadDescriptor.number(buffer, at);
            switch (FrameHeadDescriptor.type(buffer, at)) {
                case ClientFrameDescriptor.ROUTING_REQUEST -> {
                    routingRequests.incrementAndGet();
                    send(to -> BytesFrame.write(
                            to, ClientFrameDescriptor.ROUTING, number, RoutingDescriptor.encode(routing)));
                }
                case ClientFrameDescriptor.REQUEST -> {
                    final byte[] body = new byte[RequestDescriptor.bodyLength(buffer, at, length)];
                    if (!RequestDescriptor.read(buffer, at, request, body)) {
                        throw new IllegalStateException("a request that makes no sense");
                    }
                    answer(RequestDescriptor.shard(buffer, at));
                    send(to -> ResponseDescriptor.write(to, request, number));
                }
                case ClientFrameDescriptor.CHANGES_REQUEST -> {
                    ChangesRequestDescriptor.check(buffer, at, length);
                    final List<Section> sections = sections(buffer, at);
                    send(to -> ChangesDescriptor.write(to, number, sections));
                }
                default -> throw new IllegalStateException("type " + FrameHeadDescriptor.type(buffer, at));
            }
            return true;
        }

        private boolean isPrimary(int shard) {
            final Routing now = routing;
            return now.addresses()
                    .get(now.configuration().shard(shard).primary())
                    .equals(address(port));
        }

        private void answer(int shard) {
            request.clearAnswer();
            if (!isPrimary(shard)) {
                request.answer(Status.NOT_PRIMARY, 0, 0, 0);
                return;
            }
            final long hash = keyHash.hash(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
            request.placed(hash, shard);
            model.call(request);
        }

        /** The present results; if empty, a second look follows a moment later, unless requests are held. */
        private List<Section> sections(ByteBuffer question, int at) {
            final List<Section> sections = look(question, at);
            if (!sections.isEmpty() || ChangesRequestDescriptor.waitMs(question, at) == 0) {
                return sections;
            }
            if (isHeld()) {
                return sections;
            }
            LockSupport.parkNanos(PAUSE_NS);
            return look(question, at);
        }

        private List<Section> look(ByteBuffer question, int at) {
            final List<Section> sections = new ArrayList<>();
            for (int i = 0; i < ChangesRequestDescriptor.sections(question, at); i++) {
                final int shard = ChangesRequestDescriptor.shard(question, at, i);
                final long position = ChangesRequestDescriptor.position(question, at, i);
                if (!isPrimary(shard)) {
                    sections.add(new Section(i, Status.NOT_PRIMARY, position, 0, position, List.of()));
                    continue;
                }
                final Section found = changes.after(i, shard, position);
                if (position < 0 || found.to() > position) {
                    sections.add(found);
                }
            }
            return sections;
        }
    }
}
