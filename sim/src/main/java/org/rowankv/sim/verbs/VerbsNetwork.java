package org.rowankv.sim.verbs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.runtime.RandomSource;

/**
 * RDMA devices of all hosts, and the queue pairs between them. A device reads and writes the memory of its process
 * without it: also while the process is paused. Queue pairs overtake one another; within one, everything has an order.
 *
 * <p>It fails as networks do: links are slow or pass nothing, connections break with a part of a WRITE done, what a
 * sender has given up still arrives, and acknowledgements are lost.
 *
 * <p>Its monitor guards all devices and queue pairs, for processes on threads of their own. A simulation has one.
 */
public final class VerbsNetwork {
    private final VerbsLinks links;
    private final RandomSource random;
    private final int firstPort;
    private final Map<Integer, SimVerbs> listeners = new HashMap<>();
    /** Established ones, each by the connecting end. */
    private final List<SimQueuePair> connections = new ArrayList<>();

    private final Set<SimQueuePair> writing = new LinkedHashSet<>();
    private int lastKey;

    /** @param firstPort of host 0; the others' follow */
    public VerbsNetwork(VerbsLinks links, RandomSource random, int firstPort) {
        this.links = links;
        this.random = random;
        this.firstPort = firstPort;
    }

    /** @param onWork called when there is something to poll */
    public SimVerbs device(int host, Runnable onWork) {
        return new SimVerbs(this, host, onWork);
    }

    /** How a connection breaks. */
    public enum Break {
        /** Both ends learn of it soon. */
        NOTICED,
        /** An end that waits for an acknowledgement learns of it after its retries. */
        SILENT,
        /** The connecting end learns of it at once, and what it has sent arrives much later. */
        LATE
    }

    /**
     * Breaks connections of a host.
     *
     * @return how many
     */
    public synchronized int breakConnections(int host, int percent, Break how) {
        int broken = 0;
        for (SimQueuePair pair : List.copyOf(connections)) {
            if (pair.isOf(host) && random.nextInt(100) < percent) {
                connections.remove(pair);
                pair.breakDown(how);
                broken++;
            }
        }
        return broken;
    }

    /** Whether some memory holds a part of a WRITE of which the rest may still come. */
    public synchronized boolean isWithinAWrite() {
        writing.removeIf(each -> !each.isWithinAWrite());
        return !writing.isEmpty();
    }

    void writing(SimQueuePair pair) {
        writing.add(pair);
    }

    VerbsLinks links() {
        return links;
    }

    RandomSource random() {
        return random;
    }

    int nextKey() {
        return ++lastKey;
    }

    int hostAt(int port) {
        return port - firstPort;
    }

    void listens(int port, SimVerbs device) {
        listeners.put(port, device);
    }

    void ended(SimVerbs device) {
        listeners.values().removeIf(each -> each == device);
    }

    void established(SimQueuePair caller) {
        connections.add(caller);
    }

    void destroyed(SimQueuePair pair) {
        connections.remove(pair);
    }

    /** A request to connect arrives. */
    void request(SimQueuePair caller, int port) {
        final SimVerbs there = listeners.get(port);
        if (caller.isDestroyed()) {
            return;
        }
        if (there == null) {
            links.count("connections refused without a listener");
            final long backNs = links.arrivalNs(hostAt(port), caller.host());
            links.at(backNs, () -> caller.failed("no server listens there"));
            return;
        }
        final SimQueuePair called = new SimQueuePair(this, there, caller.address(), caller);
        there.event(handler -> handler.onRequest(called));
    }
}
