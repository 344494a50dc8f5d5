package org.rowankv.rdma.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.ModelNetwork.Completion;
import org.rowankv.rdma.verbs.ModelNetwork.Kind;
import org.rowankv.rdma.verbs.ModelNetwork.Pair;
import org.rowankv.rdma.verbs.ModelNetwork.Posted;

/** One device of a {@link ModelNetwork}. */
public final class ModelVerbs implements Verbs {
    private final ModelNetwork network;
    /** Guarded by the network. */
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();
    /** Guarded by the network. */
    private final ArrayDeque<Consumer<ConnectionEventHandler>> events = new ArrayDeque<>();

    private final List<Pair> mine = new ArrayList<>();
    private int capacity = Integer.MAX_VALUE;
    /** Guarded by the network. */
    private boolean overran;

    /** Guarded by the network. */
    private boolean failed;

    private record Entry(Pair pair, Completion completion) {}

    /** Guarded by the network. */
    private final Map<Integer, Exposed> exposed = new HashMap<>();

    private interface Local extends RegisteredMemory {
        ByteBuffer memory();

        @Override
        default int length() {
            return memory().capacity();
        }
    }

    private record Registered(ByteBuffer memory) implements Local {}

    record Exposed(ByteBuffer memory, long address, int remoteKey) implements Local, ExposedMemory {}

    public ModelVerbs(ModelNetwork network) {
        this.network = network;
    }

    // --- the network's, under its monitor ---

    VerbsConnection connectionOf(Pair pair) {
        mine.add(pair);
        return new Connection(pair);
    }

    void event(Consumer<ConnectionEventHandler> event) {
        events.add(event);
    }

    void complete(Pair pair, Completion completion) {
        overran |= queue.size() >= capacity;
        queue.add(new Entry(pair, completion));
    }

    void forget(Pair pair) {
        mine.remove(pair);
        queue.removeIf(each -> each.pair == pair);
    }

    /** Breaks the device. Any thread. */
    public void fail() {
        synchronized (network) {
            failed = true;
        }
    }

    // --- verbs ---

    @Override
    public InetSocketAddress listen(InetSocketAddress address, int backlog, int completions) throws VerbsException {
        synchronized (network) {
            capacity = completions;
            return network.listen(this, address);
        }
    }

    @Override
    public RegisteredMemory register(ByteBuffer memory) throws VerbsException {
        final String refusal = network.refusal();
        if (refusal != null) {
            throw new VerbsException(refusal);
        }
        return new Registered(memory.duplicate());
    }

    @Override
    public ExposedMemory expose(ByteBuffer memory) throws VerbsException {
        final String refusal = network.refusal();
        if (refusal != null) {
            throw new VerbsException(refusal);
        }
        synchronized (network) {
            final int key = network.nextKey();
            final Exposed added = new Exposed(memory.duplicate(), ((long) key << 32) + 4096, key);
            exposed.put(key, added);
            return added;
        }
    }

    @Nullable
    Exposed exposed(int remoteKey) {
        return exposed.get(remoteKey);
    }

    @Override
    public VerbsConnection connect(InetSocketAddress remote, int timeoutMs) {
        return network.connect(this, remote).connection();
    }

    @Override
    public int pollWork(WorkHandler handler) throws VerbsException {
        network.step();
        int count = 0;
        for (Completion next = next(); next != null && count < 16; next = count < 16 ? next() : null) {
            final boolean success = next.status() == WorkStatus.SUCCESS;
            handler.onWork(next.id(), next.status(), success ? next.length() : 0);
            count++;
        }
        return count;
    }

    private @Nullable Completion next() throws VerbsException {
        synchronized (network) {
            if (overran) {
                throw new VerbsException("the completion queue overran");
            }
            if (failed) {
                throw new VerbsException("the device was removed");
            }
            final Entry entry = queue.poll();
            return entry == null ? null : entry.completion;
        }
    }

    @Override
    public int pollEvents(ConnectionEventHandler handler) {
        int count = 0;
        for (Consumer<ConnectionEventHandler> event = nextEvent(); event != null; event = nextEvent()) {
            event.accept(handler);
            count++;
        }
        return count;
    }

    private @Nullable Consumer<ConnectionEventHandler> nextEvent() {
        synchronized (network) {
            return events.poll();
        }
    }

    @Override
    public void close() {
        synchronized (network) {
            List.copyOf(mine).forEach(Pair::destroy);
            network.close(this);
        }
    }

    private record Connection(Pair pair) implements VerbsConnection {
        @Override
        public InetSocketAddress remoteAddress() {
            return pair.remote();
        }

        @Override
        public void createQueuePair(int sends, int receives) {
            pair.create(sends, receives);
        }

        @Override
        public SendPosting prepareSend(RegisteredMemory memory, int offset, long id) {
            return length -> pair.postSend(new Posted(((Local) memory).memory(), offset, length, id));
        }

        @Override
        public ReceivePosting prepareReceive(RegisteredMemory memory, int offset, int length, long id) {
            final Posted posted = new Posted(((Local) memory).memory(), offset, length, id);
            return () -> pair.postReceive(posted);
        }

        @Override
        public OneSidedPosting prepareOneSided(
                RegisteredMemory memory, int writes, RegisteredMemory target, int targetOffset, long id) {
            final Posted[] chain = new Posted[writes + 1];
            return new OneSidedPosting() {
                @Override
                public void write(int index, int offset, int length, long remoteAddress, int remoteKey) {
                    final ByteBuffer from = ((Local) memory).memory();
                    chain[index] = new Posted(Kind.WRITE, from, offset, length, id, remoteAddress, remoteKey);
                }

                @Override
                public void read(long remoteAddress, int remoteKey) {
                    final ByteBuffer to = ((Local) target).memory();
                    chain[writes] = new Posted(Kind.READ, to, targetOffset, 1, id, remoteAddress, remoteKey);
                }

                @Override
                public void post() throws VerbsException {
                    pair.postOneSided(List.of(chain));
                }
            };
        }

        @Override
        public void open() {
            pair.open();
        }

        @Override
        public void destroy() {
            pair.destroy();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }
}
