package org.rowankv.rdma.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * RDMA devices in one JVM and the network between them. Work is done in steps, of queue pairs in the order that a seed
 * gives: one carries the oldest SEND of a queue pair to the memory of a receive, a part of its oldest WRITE to the other
 * end's memory, or a completion back. So queue pairs overtake one another, memory is read when the device reads it, not
 * when it was posted, and a connection may end with half of a WRITE done. A device that is polled makes some steps.
 *
 * <p>It fails as devices do: a SEND that meets no receive is repeated, and then breaks its queue pair; memory that is
 * not registered, or too short, breaks both; what is posted on a broken one is flushed; a completion queue that overruns
 * breaks its device.
 *
 * <p>For any thread; guarded by its own monitor.
 */
public final class ModelNetwork {
    /** Of a SEND that meets no receive, by steps. */
    private static final int PATIENCE = 10_000;

    private static final int STEPS_PER_POLL = 24;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final Random random;
    private final Map<Integer, ModelVerbs> listeners = new HashMap<>();
    private final List<Pair> pairs = new ArrayList<>();
    private int lastPort = 20_000;
    private int lastKey;
    private long notReady;
    private long sends;
    private long writes;
    private int heldBytes;
    /** −1: as before. */
    private int heldFromNextDestroy = -1;

    private long breakAfter = Long.MAX_VALUE;
    private @Nullable String refusal;

    public ModelNetwork(long seed) {
        this.random = new Random(seed);
    }

    /** SENDs that met no posted receive, so far. */
    public synchronized long notReady() {
        return notReady;
    }

    /** SENDs that arrived, so far. */
    public synchronized long sends() {
        return sends;
    }

    /** Parts of WRITEs that arrived, so far. */
    public synchronized long writes() {
        return writes;
    }

    /** Holds WRITEs of that many bytes and less, and READs, back, so that they are under way; 0: none any more. */
    public synchronized void holdOneSided(int mostBytes) {
        heldBytes = mostBytes;
    }

    /** As {@link #holdOneSided}, from the moment on at which the next queue pair is about to be destroyed. */
    public synchronized void holdFromNextDestroy(int mostBytes) {
        heldFromNextDestroy = mostBytes;
    }

    /** Breaks the queue pair that makes the SEND after so many others. */
    public synchronized void breakAfter(long more) {
        breakAfter = sends + more;
    }

    /** From now on memory is not registered, for that reason; null: it is again. */
    public synchronized void refuseMemory(@Nullable String reason) {
        refusal = reason;
    }

    /** Queue pairs that are not destroyed. */
    public synchronized int queuePairs() {
        return pairs.size();
    }

    /** Of exposed memory; no two devices have the same. */
    int nextKey() {
        return ++lastKey;
    }

    synchronized @Nullable String refusal() {
        return refusal;
    }

    synchronized InetSocketAddress listen(ModelVerbs device, InetSocketAddress address) throws VerbsException {
        final int port = address.getPort() == 0 ? ++lastPort : address.getPort();
        if (listeners.putIfAbsent(port, device) != null) {
            throw new VerbsException("port " + port + " is in use");
        }
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    synchronized void close(ModelVerbs device) {
        listeners.values().removeIf(each -> each == device);
    }

    /** Begins to connect; the way is always known. */
    synchronized Pair connect(ModelVerbs device, InetSocketAddress remote) {
        final Pair pair = new Pair(device, remote);
        device.event(handler -> handler.onResolved(pair.connection));
        return pair;
    }

    private synchronized void requestOf(Pair caller) {
        final ModelVerbs there = listeners.get(caller.remote.getPort());
        if (there == null) {
            caller.device.event(handler -> handler.onFailed(caller.connection, "no server listens there"));
            return;
        }
        final Pair called = new Pair(there, InetSocketAddress.createUnresolved("model", 0));
        called.caller = caller;
        there.event(handler -> handler.onRequest(called.connection));
    }

    private synchronized void accept(Pair called, Pair caller) {
        if (caller.destroyed) {
            called.device.event(handler -> handler.onDisconnected(called.connection));
            return;
        }
        called.peer = caller;
        caller.peer = called;
        called.device.event(handler -> handler.onEstablished(called.connection));
        caller.device.event(handler -> handler.onEstablished(caller.connection));
    }

    /** Makes some steps. */
    synchronized void step() {
        for (int i = 0; i < STEPS_PER_POLL && !pairs.isEmpty(); i++) {
            pairs.get(random.nextInt(pairs.size())).step();
        }
    }

    record Posted(Kind kind, ByteBuffer memory, int offset, int length, long id, long remoteAddress, int remoteKey) {
        Posted(ByteBuffer memory, int offset, int length, long id) {
            this(Kind.SEND, memory, offset, length, id, 0, 0);
        }
    }

    /** What is posted; a WRITE has no completion unless it fails. */
    enum Kind {
        SEND,
        WRITE,
        READ
    }

    record Completion(long id, int status, int length) {}

    /** A queue pair, with the identifier of its connection. */
    final class Pair {
        private final ModelVerbs device;
        private final InetSocketAddress remote;
        private final VerbsConnection connection;
        private final ArrayDeque<Posted> sendQueue = new ArrayDeque<>();
        private final ArrayDeque<Posted> receiveQueue = new ArrayDeque<>();
        /** Of SENDs that have arrived, on their way back. */
        private final ArrayDeque<Completion> arrived = new ArrayDeque<>();

        private @Nullable Pair caller;
        private @Nullable Pair peer;
        private int maxSends;
        private int maxReceives;
        private boolean created;
        private boolean broken;
        private boolean destroyed;
        private int repeats;
        /** Bytes of the oldest WRITE that have arrived. */
        private int arrivedBytes;

        private Pair(ModelVerbs device, InetSocketAddress remote) {
            this.device = device;
            this.remote = remote;
            this.connection = device.connectionOf(this);
        }

        VerbsConnection connection() {
            return connection;
        }

        InetSocketAddress remote() {
            return remote;
        }

        void create(int sends, int receives) {
            synchronized (ModelNetwork.this) {
                maxSends = sends;
                maxReceives = receives;
                created = true;
                pairs.add(this);
            }
        }

        void open() {
            synchronized (ModelNetwork.this) {
                if (caller == null) {
                    requestOf(this);
                } else {
                    accept(this, caller);
                }
            }
        }

        void postSend(Posted posted) throws VerbsException {
            synchronized (ModelNetwork.this) {
                requireLive(sendQueue.size() + arrived.size() < maxSends);
                if (broken) {
                    device.complete(this, new Completion(posted.id, WorkStatus.FLUSHED, 0));
                } else {
                    sendQueue.add(posted);
                }
            }
        }

        void postOneSided(List<Posted> chain) throws VerbsException {
            synchronized (ModelNetwork.this) {
                requireLive(sendQueue.size() + arrived.size() + chain.size() <= maxSends);
                for (final Posted each : chain) {
                    if (broken) {
                        device.complete(this, new Completion(each.id, WorkStatus.FLUSHED, 0));
                    } else {
                        sendQueue.add(each);
                    }
                }
            }
        }

        void postReceive(Posted posted) throws VerbsException {
            synchronized (ModelNetwork.this) {
                requireLive(receiveQueue.size() < maxReceives);
                if (broken) {
                    device.complete(this, new Completion(posted.id, WorkStatus.FLUSHED, 0));
                } else {
                    receiveQueue.add(posted);
                }
            }
        }

        private void requireLive(boolean hasRoom) throws VerbsException {
            if (!created || destroyed) {
                throw new VerbsException("posted without a queue pair");
            }
            if (!hasRoom) {
                throw new VerbsException("posted beyond the queue's length");
            }
        }

        private void step() {
            final Completion back = arrived.poll();
            if (back != null && random.nextBoolean()) {
                device.complete(this, back);
                return;
            }
            if (back != null) {
                arrived.addFirst(back);
            }
            final Posted send = sendQueue.peek();
            if (send == null || broken) {
                return;
            }
            final Pair there = peer;
            if (there == null || there.destroyed || there.broken || sends >= breakAfter) {
                breakAfter = sends >= breakAfter ? Long.MAX_VALUE : breakAfter;
                fail(send, WorkStatus.RETRIES_EXCEEDED);
                return;
            }
            if (send.kind == Kind.SEND) {
                carry(send, there);
            } else if (send.length > heldBytes) {
                place(send, there);
            }
        }

        /** A part of a WRITE, or a READ. */
        private void place(Posted work, Pair there) {
            final ModelVerbs.Exposed exposed = there.device.exposed(work.remoteKey);
            final long at = exposed == null ? -1 : work.remoteAddress - exposed.address();
            if (at < 0 || at + work.length > exposed.length()) {
                there.breakAlone();
                fail(work, WorkStatus.REMOTE_ACCESS_ERROR);
                return;
            }
            if (work.kind == Kind.READ) {
                work.memory.put(work.offset, exposed.memory().get((int) at));
                sendQueue.poll();
                arrived.add(new Completion(work.id, WorkStatus.SUCCESS, 0));
                return;
            }
            writes++;
            final int part = Math.min(work.length - arrivedBytes, 64 * (1 + random.nextInt(8)));
            copy(work.memory, work.offset + arrivedBytes, exposed.memory(), (int) at + arrivedBytes, part);
            arrivedBytes += part;
            if (arrivedBytes == work.length) {
                arrivedBytes = 0;
                sendQueue.poll();
            }
        }

        private static void copy(ByteBuffer from, int offset, ByteBuffer to, int at, int length) {
            if (length == Long.BYTES) {
                // As one store, behind all before it.
                LONGS.setRelease(to, at, (long) LONGS.get(from, offset));
            } else {
                to.put(at, from, offset, length);
            }
        }

        /** The other end's error breaks this one too. */
        private void breakAlone() {
            broken = true;
            flush(sendQueue);
            flush(receiveQueue);
        }

        private void carry(Posted send, Pair there) {
            final Posted receive = there.receiveQueue.peek();
            if (receive == null) {
                notReady++;
                repeats++;
                if (repeats > PATIENCE) {
                    fail(send, WorkStatus.NOT_READY_RETRIES_EXCEEDED);
                }
                return;
            }
            repeats = 0;
            if (send.memory == null || send.offset + send.length > send.memory.capacity()) {
                fail(send, WorkStatus.PROTECTION_ERROR);
                return;
            }
            if (send.length > receive.length) {
                there.receiveQueue.poll();
                there.fail(receive, WorkStatus.LENGTH_ERROR);
                fail(send, WorkStatus.INVALID_REQUEST);
                return;
            }
            sendQueue.poll();
            there.receiveQueue.poll();
            sends++;
            receive.memory.put(receive.offset, send.memory, send.offset, send.length);
            there.device.complete(there, new Completion(receive.id, WorkStatus.SUCCESS, send.length));
            arrived.add(new Completion(send.id, WorkStatus.SUCCESS, 0));
        }

        /** Completes a posting with an error, and flushes all others. */
        private void fail(Posted culprit, int status) {
            broken = true;
            arrived.forEach(each -> device.complete(this, each));
            arrived.clear();
            device.complete(this, new Completion(culprit.id, status, 0));
            sendQueue.remove(culprit);
            receiveQueue.remove(culprit);
            flush(sendQueue);
            flush(receiveQueue);
        }

        private void flush(ArrayDeque<Posted> queue) {
            queue.forEach(each -> device.complete(this, new Completion(each.id, WorkStatus.FLUSHED, 0)));
            queue.clear();
        }

        /** From now on nothing of it reads or writes memory; until now the other end went on. */
        void destroy() {
            synchronized (ModelNetwork.this) {
                if (destroyed) {
                    return;
                }
                if (heldFromNextDestroy >= 0) {
                    heldBytes = heldFromNextDestroy;
                    heldFromNextDestroy = -1;
                }
                for (int i = 0; i < STEPS_PER_POLL && peer != null; i++) {
                    peer.step();
                }
                destroyed = true;
                pairs.remove(this);
                sendQueue.clear();
                receiveQueue.clear();
                arrived.clear();
                device.forget(this);
                final Pair there = peer == null ? caller : peer;
                if (there != null && !there.destroyed) {
                    final boolean refused = peer == null;
                    there.device.event(handler -> {
                        if (refused) {
                            handler.onFailed(there.connection, "it refuses");
                        } else {
                            handler.onDisconnected(there.connection);
                        }
                    });
                }
            }
        }
    }
}
