package org.rowankv.rdma.channel;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.collection.LongObjectHashMap;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkHandler;
import org.rowankv.runtime.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The NIC agent's use of an RDMA device: polls its completions and events, and passes them to the channels. Idle, it
 * polls for a while, and then sleeps in short pieces: the device's own notification could not be combined with that of
 * tasks.
 *
 * <p>Used by its event loop, except for {@link #wakeup}.
 */
final class VerbsIoHandler implements IoHandler, WorkHandler, ConnectionEventHandler {
    private static final Logger LOG = LoggerFactory.getLogger(VerbsIoHandler.class);
    private static final long POLL_NS = 50_000;
    private static final long SLEEP_NS = 50_000;
    /** Events of connections cost a system call: they are looked for less often than completions. */
    private static final int POLLS_PER_EVENT = 16;

    private static final int RECEIVE = 1 << 15;
    private static final int ONE_SIDED = 1 << 14;
    private static final int SLOT_MASK = ONE_SIDED - 1;
    private static final int NUMBER_SHIFT = 16;

    private final Verbs verbs;
    private final VerbsSettings settings;
    private final Clock clock;
    private final LongObjectHashMap<VerbsChannel> channels = new LongObjectHashMap<>();
    private final Map<VerbsConnection, VerbsChannel> byConnection = new HashMap<>();
    private final ArrayDeque<SlotMemory> freeMemory = new ArrayDeque<>();
    /** Channels with arrivals, or with an end. */
    private final ArrayList<VerbsChannel> touched = new ArrayList<>();

    private final List<VerbsChannel> disconnected = new ArrayList<>();
    private final List<VerbsChannel> lingering = new ArrayList<>();
    private @Nullable VerbsListener listener;
    private long lastNumber;
    private int pollsWithoutEvents;
    private long lastWorkNs;
    private boolean failed;
    private volatile @Nullable Thread owner;
    private volatile boolean woken;

    VerbsIoHandler(Verbs verbs, VerbsSettings settings, Clock clock) {
        this.verbs = verbs;
        this.settings = settings;
        this.clock = clock;
    }

    VerbsSettings settings() {
        return settings;
    }

    boolean isOf(EventLoop loop) {
        return loop instanceof IoEventLoop io && io.isIoType(VerbsIoHandler.class);
    }

    // --- Netty's interface ---

    @Override
    public void initialize() {
        owner = Thread.currentThread();
    }

    @Override
    public int run(IoHandlerContext context) {
        woken = false; // first: a task that is submitted later wakes it up again, or is seen by canBlock
        int work = poll();
        if (work == 0 && context.canBlock()) {
            work = await(context);
        }
        return work;
    }

    private int await(IoHandlerContext context) {
        final long startNs = clock.nanoTime();
        final long delayNs = context.delayNanos(startNs);
        long nowNs = startNs;
        while (!woken && nowNs - startNs < delayNs) {
            if (nowNs - lastWorkNs < POLL_NS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, SLEEP_NS);
            }
            final int work = poll();
            if (work > 0) {
                return work;
            }
            nowNs = clock.nanoTime();
        }
        return 0;
    }

    private int poll() {
        if (failed) {
            deliver(); // ends of connections
            return 0;
        }
        int work = 0;
        try {
            work = verbs.pollWork(this);
            pollsWithoutEvents++;
            if (pollsWithoutEvents >= POLLS_PER_EVENT) {
                pollsWithoutEvents = 0;
                work += verbs.pollEvents(this);
                endDisconnected();
            }
        } catch (VerbsException e) {
            fail(e);
        }
        deliver();
        endLingering(false);
        if (work > 0) {
            lastWorkNs = clock.nanoTime();
        }
        return work;
    }

    /** First passes what had arrived before the other ends disconnected, however much else arrives meanwhile. */
    private void endDisconnected() throws VerbsException {
        if (disconnected.isEmpty()) {
            return;
        }
        int passed = 0;
        int some = 1;
        while (some > 0 && passed < settings.completions()) {
            some = verbs.pollWork(this);
            passed += some;
        }
        disconnected.forEach(channel -> channel.end(new VerbsException("the other end has disconnected")));
        disconnected.clear();
    }

    private void deliver() {
        for (int i = 0; i < touched.size(); i++) { // it may grow
            touched.get(i).deliver();
        }
        touched.clear();
    }

    private void fail(VerbsException e) {
        failed = true;
        LOG.error("ROWAN-3007 The RDMA device failed: no server is reachable any more; restart this one", e);
        for (final VerbsChannel channel : List.copyOf(channels.values())) {
            channel.end(e);
        }
    }

    @Override
    public void wakeup() {
        if (!woken) {
            woken = true;
            LockSupport.unpark(owner);
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        throw new UnsupportedOperationException("its channels have no handles");
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
        return false;
    }

    @Override
    public void prepareToDestroy() {
        for (final VerbsChannel channel : List.copyOf(channels.values())) {
            if (channel.isOpen()) {
                channel.unsafe().close(channel.voidPromise());
            }
        }
    }

    @Override
    public void destroy() {
        final long startNs = clock.nanoTime();
        while (!lingering.isEmpty() && !failed && clock.nanoTime() - startNs < settings.lingerMs() * 1_000_000L) {
            if (poll() == 0) {
                LockSupport.parkNanos(this, SLEEP_NS);
            }
        }
        endLingering(true);
        verbs.close();
    }

    // --- connections ---

    InetSocketAddress listen(VerbsListener listening, InetSocketAddress address, int backlog) throws VerbsException {
        final InetSocketAddress bound = verbs.listen(address, backlog, settings.completions());
        listener = listening;
        return bound;
    }

    void listensNoMore() {
        listener = null;
    }

    VerbsConnection connect(VerbsChannel channel, InetSocketAddress remote, int timeoutMs) throws VerbsException {
        requireRoom();
        final VerbsConnection connection = verbs.connect(remote, timeoutMs);
        byConnection.put(connection, channel);
        return connection;
    }

    private void requireRoom() throws VerbsException {
        if (failed) {
            throw new VerbsException("the RDMA device of this server failed: restart it");
        }
        if (byConnection.size() >= settings.maxConnections()) {
            throw new VerbsException(byConnection.size() + " RDMA connections are open, the most at a time");
        }
    }

    /** Numbers a channel, which then receives its completions. */
    long enter(VerbsChannel channel) {
        lastNumber++;
        channels.put(lastNumber, channel);
        return lastNumber;
    }

    static long sendId(long number, int slot) {
        return (number << NUMBER_SHIFT) | slot;
    }

    static long receiveId(long number, int slot) {
        return (number << NUMBER_SHIFT) | RECEIVE | slot;
    }

    static long oneSidedId(long number, int posting) {
        return (number << NUMBER_SHIFT) | ONE_SIDED | posting;
    }

    RegisteredMemory register(ByteBuffer memory) throws VerbsException {
        return verbs.register(memory);
    }

    ExposedMemory expose(ByteBuffer memory) throws VerbsException {
        return verbs.expose(memory);
    }

    SlotMemory takeMemory() throws VerbsException {
        final SlotMemory free = freeMemory.poll();
        return free == null ? new SlotMemory(verbs, settings) : free;
    }

    void touch(VerbsChannel channel) {
        touched.add(channel);
    }

    /** Keeps a closed channel's connection until its SENDs have arrived. */
    void linger(VerbsChannel channel) {
        channel.lingerUntil(clock.nanoTime() + settings.lingerMs() * 1_000_000L);
        lingering.add(channel);
    }

    private void endLingering(boolean all) {
        if (lingering.isEmpty()) {
            return;
        }
        final long nowNs = clock.nanoTime();
        lingering.removeIf(channel -> {
            final boolean over = all || failed || channel.hasLingered(nowNs);
            if (over) {
                channel.release();
            }
            return over;
        });
    }

    /** Destroys a connection; only then its memory is free. */
    void release(long number, @Nullable VerbsConnection connection, @Nullable SlotMemory memory) {
        if (connection != null) {
            connection.destroy();
            byConnection.remove(connection);
        }
        channels.remove(number);
        if (memory != null) {
            freeMemory.add(memory);
        }
    }

    // --- the device's ---

    @Override
    public void onWork(long id, int status, int length) {
        final VerbsChannel channel = channels.get(id >>> NUMBER_SHIFT);
        if (channel == null) {
            return; // of a destroyed connection
        }
        final int slot = (int) id & SLOT_MASK;
        if ((id & RECEIVE) != 0) {
            channel.onReceived(slot, status, length);
        } else if ((id & ONE_SIDED) != 0) {
            channel.onOneSided(slot, status);
        } else {
            channel.onSent(slot, status);
        }
    }

    @Override
    public void onRequest(VerbsConnection connection) {
        final VerbsListener present = listener;
        if (present == null || !present.isActive()) {
            connection.destroy();
            return;
        }
        final VerbsChannel accepted = new VerbsChannel(this, present, connection);
        try {
            requireRoom();
            byConnection.put(connection, accepted);
            accepted.open();
        } catch (VerbsException e) {
            accepted.release();
            present.pipeline().fireExceptionCaught(e);
            return;
        }
        present.accept(accepted);
    }

    @Override
    public void onResolved(VerbsConnection connection) {
        final VerbsChannel channel = byConnection.get(connection);
        if (channel != null) {
            channel.onResolved();
        }
    }

    @Override
    public void onEstablished(VerbsConnection connection) {
        final VerbsChannel channel = byConnection.get(connection);
        if (channel != null) {
            channel.onEstablished();
        }
    }

    @Override
    public void onFailed(VerbsConnection connection, String why) {
        final VerbsChannel channel = byConnection.get(connection);
        if (channel != null) {
            channel.end(new VerbsException(why));
        }
    }

    @Override
    public void onDisconnected(VerbsConnection connection) {
        final VerbsChannel channel = byConnection.get(connection);
        if (channel != null) {
            disconnected.add(channel);
        }
    }
}
