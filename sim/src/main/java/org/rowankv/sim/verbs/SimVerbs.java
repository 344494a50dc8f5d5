package org.rowankv.sim.verbs;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ExposedMemory;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.WorkHandler;
import org.rowankv.rdma.verbs.WorkStatus;

/** A device as one process sees it, from that process's start to its end. */
public final class SimVerbs implements Verbs {
    private static final int POLLED_AT_ONCE = 16;
    private static final int EXPOSED_FROM = 4096;

    private final VerbsNetwork network;
    private final int host;
    private final Runnable onWork;
    private final ArrayDeque<Completion> completions = new ArrayDeque<>();
    private final ArrayDeque<Consumer<ConnectionEventHandler>> events = new ArrayDeque<>();
    private final Map<Integer, Exposed> exposed = new HashMap<>();
    private final List<SimQueuePair> pairs = new ArrayList<>();
    private int capacity = Integer.MAX_VALUE;
    private boolean ended;

    private record Completion(long id, int status, int length) {}

    interface Local extends RegisteredMemory {
        ByteBuffer memory();

        @Override
        default int length() {
            return memory().capacity();
        }
    }

    private record Registered(ByteBuffer memory) implements Local {}

    record Exposed(ByteBuffer memory, long address, int remoteKey) implements Local, ExposedMemory {}

    SimVerbs(VerbsNetwork network, int host, Runnable onWork) {
        this.network = network;
        this.host = host;
        this.onWork = onWork;
    }

    int host() {
        return host;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Whether there is something to poll. */
    public boolean hasWork() {
        synchronized (network) {
            return !completions.isEmpty() || !events.isEmpty();
        }
    }

    /**
     * Its process has ended, and with it every queue pair: what is under way may still arrive.
     *
     * @param isSilent whether no other end is notified
     */
    public void end(boolean isSilent) {
        synchronized (network) {
            ended = true;
            for (SimQueuePair pair : List.copyOf(pairs)) {
                pair.destroy(isSilent);
            }
            completions.clear();
            events.clear();
            network.ended(this);
        }
    }

    void created(SimQueuePair pair) {
        pairs.add(pair);
    }

    void destroyed(SimQueuePair pair) {
        pairs.remove(pair);
    }

    void complete(long id, int status, int length) {
        if (ended) {
            return;
        }
        if (completions.size() >= capacity) {
            network.links().violation("the completion queue of server " + host + " overran");
        }
        completions.add(new Completion(id, status, length));
        onWork.run();
    }

    void event(Consumer<ConnectionEventHandler> event) {
        if (!ended) {
            events.add(event);
            onWork.run();
        }
    }

    @Nullable
    Exposed exposed(int remoteKey) {
        return exposed.get(remoteKey);
    }

    // --- verbs ---

    @Override
    public InetSocketAddress listen(InetSocketAddress address, int backlog, int mostCompletions) {
        synchronized (network) {
            capacity = mostCompletions;
            network.listens(address.getPort(), this);
            return address;
        }
    }

    @Override
    public RegisteredMemory register(ByteBuffer memory) {
        return new Registered(memory.duplicate());
    }

    @Override
    public ExposedMemory expose(ByteBuffer memory) {
        synchronized (network) {
            final int key = network.nextKey();
            final Exposed added = new Exposed(memory.duplicate(), ((long) key << Integer.SIZE) + EXPOSED_FROM, key);
            exposed.put(key, added);
            return added;
        }
    }

    @Override
    public VerbsConnection connect(InetSocketAddress remote, int timeoutMs) {
        final SimQueuePair pair = new SimQueuePair(network, this, remote, null);
        synchronized (network) {
            event(handler -> handler.onResolved(pair));
            return pair;
        }
    }

    @Override
    public int pollWork(WorkHandler handler) {
        synchronized (network) {
            network.links().runDue();
        }
        int count = 0;
        for (Completion next = next(0); next != null; next = next(count)) {
            final boolean success = next.status == WorkStatus.SUCCESS;
            // Of a failed one, the length means nothing.
            handler.onWork(next.id, next.status, success ? next.length : -1);
            count++;
        }
        return count;
    }

    private @Nullable Completion next(int before) {
        synchronized (network) {
            return before < POLLED_AT_ONCE ? completions.poll() : null;
        }
    }

    private @Nullable Consumer<ConnectionEventHandler> nextEvent() {
        synchronized (network) {
            return events.poll();
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

    @Override
    public void close() {
        end(false);
    }
}
