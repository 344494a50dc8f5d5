package org.rowankv.sim.embedded;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.Task;

/**
 * The local fabric with instrumentation: it tracks where each append stops, to detect every landing after a fence, and
 * counts the effects of fences. The steps of an append are those of the local fabric, which stops at named points.
 */
final class SimFabric implements Fabric {
    private final Fabric below;
    private final EmbeddedSimulation simulation;
    private final List<Pair> pairs = new ArrayList<>();
    /** Appends that have begun and not returned, the innermost last: the last to begin is the first to stop. */
    private final Deque<Pair> sending = new ArrayDeque<>();
    /** The task whose next append finds its connection broken. */
    private @Nullable Task toBreak;
    /** Until when they get no new connection. */
    private final Map<Task, Long> brokenUntilNs = new HashMap<>();

    private long keptBack;

    SimFabric(Fabric below, EmbeddedSimulation simulation) {
        this.below = below;
        this.simulation = simulation;
    }

    /** How often a cleanable segment was skipped because a sender may still write to it. */
    long keptBack() {
        return keptBack;
    }

    /** The append in progress has been published. */
    void onPublished() {
        if (!sending.isEmpty()) {
            sending.getLast().published = true;
        }
    }

    /** The servers of the innermost append, sender first; null when there is none. */
    int @Nullable [] innermost() {
        return sending.isEmpty() ? null : new int[] {sending.getLast().from, sending.getLast().to};
    }

    /** Whether the innermost append uses a slow link. */
    boolean isSlow() {
        final Pair pair = sending.peekLast();
        return pair != null && simulation.store().links().isSlow(pair.from, pair.to);
    }

    /** Server {@code to} fences server {@code from}. What it has not published by then must never land. */
    void fence(Server to, int from) {
        to.fence(from);
        for (Pair pair : pairs) {
            if (pair.from == from && pair.to == to.serverId() && pair.isSending && !pair.published) {
                pair.cutOff = true;
            }
        }
    }

    /**
     * Breaks only the connection of the next sender, and refuses another one for a while: its entry arrives long after
     * those that others send now.
     */
    void breakNext(Task sender, long ns) {
        toBreak = sender;
        brokenUntilNs.put(sender, simulation.timeline().nowNs() + ns);
        simulation.store().links().noteCut();
    }

    @Override
    public FabricCapabilities capabilities() {
        return below.capabilities();
    }

    @Override
    public Endpoint open(EndpointSettings settings) {
        return new End(below.open(settings), settings.serverId());
    }

    @Override
    public void close() {
        below.close();
    }

    private final class End implements Endpoint {
        private final Endpoint end;
        private final int server;

        End(Endpoint end, int server) {
            this.end = end;
            this.server = server;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            return new Queue(end.receiveQueue());
        }

        @Override
        public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
            if (simulation.store().links().isCut(server, remoteServerId)) {
                simulation.eventCounters().count("connections that a cut link refused");
                throw new FabricException(
                        FabricException.Reason.UNKNOWN_PEER, "the link to server " + remoteServerId + " is cut");
            }
            final Task caller = simulation.scheduler().current();
            if (caller != null && simulation.timeline().nowNs() < brokenUntilNs.getOrDefault(caller, 0L)) {
                throw new FabricException(
                        FabricException.Reason.UNKNOWN_PEER,
                        "the link to server " + remoteServerId + " is cut for one");
            }
            final Pair pair = new Pair(end.connect(remoteServerId, remoteIncarnation, term), server, remoteServerId);
            pairs.add(pair);
            return pair;
        }

        @Override
        public int message(int remoteServerId, ByteBuffer message) {
            return end.message(remoteServerId, message);
        }

        @Override
        public int pollMessages(int limit) {
            return end.pollMessages(limit);
        }

        @Override
        public void close() {
            end.close();
        }
    }

    private final class Queue implements ReceiveQueue {
        private final ReceiveQueue queue;

        Queue(ReceiveQueue queue) {
            this.queue = queue;
        }

        private FenceReport count(FenceReport report) {
            simulation.eventCounters().add("pairs fenced", report.fencedPairs());
            if (!report.voidedAddresses().isEmpty()) {
                simulation.eventCounters().count("fences with holes");
            }
            if (report.namingPairs() > 0) {
                simulation.eventCounters().count("fences with segments in quarantine");
            }
            return report;
        }

        @Override
        public boolean post(int segment, int generation) {
            return queue.post(segment, generation);
        }

        @Override
        public long firstOrdinal() {
            return queue.firstOrdinal();
        }

        @Override
        public long postedCount() {
            return queue.postedCount();
        }

        @Override
        public long currentOrdinal() {
            return queue.currentOrdinal();
        }

        @Override
        public int segmentAt(long ordinal) {
            return queue.segmentAt(ordinal);
        }

        @Override
        public int generationAt(long ordinal) {
            return queue.generationAt(ordinal);
        }

        @Override
        public boolean isClosed(long ordinal) {
            return queue.isClosed(ordinal);
        }

        @Override
        public int landedLimit(long ordinal) {
            return queue.landedLimit(ordinal);
        }

        @Override
        public FenceReport fence(int serverId) {
            return count(queue.fence(serverId));
        }

        @Override
        public FenceReport fenceAll() {
            return count(queue.fenceAll());
        }

        @Override
        public FenceReport fenceHole(int segment, int offset) {
            simulation.eventCounters().count("old holes cut off");
            return count(queue.fenceHole(segment, offset));
        }

        @Override
        public boolean isNamed(int segment) {
            final boolean named = queue.isNamed(segment);
            if (named) {
                keptBack++;
                simulation.eventCounters().count("segments left alone since a sender names them");
            }
            return named;
        }
    }

    private final class Pair implements QueuePair {
        private final QueuePair pair;
        private final int from;
        private final int to;
        /** Per append whose completion was not polled yet, in order: whether a fence preceded its publication. */
        private final Deque<Boolean> posted = new ArrayDeque<>();

        private boolean isSending;
        private boolean published;
        private boolean cutOff;

        Pair(QueuePair pair, int from, int to) {
            this.pair = pair;
            this.from = from;
            this.to = to;
        }

        @Override
        public int send(long context, ByteBuffer source, int offset, int length, int tag) {
            if (toBreak != null && toBreak == simulation.scheduler().current()) {
                toBreak = null;
                simulation.eventCounters().count("connections of copies that broke");
                return PostStatus.UNREACHABLE;
            }
            isSending = true;
            published = false;
            cutOff = false;
            sending.addLast(this);
            try {
                final int status = pair.send(context, source, offset, length, tag);
                if (status == PostStatus.POSTED) {
                    posted.addLast(cutOff);
                }
                if (status == PostStatus.RECEIVER_NOT_READY) {
                    simulation.eventCounters().count("appends that found no posted segment");
                }
                return status;
            } finally {
                sending.removeLast();
                isSending = false;
            }
        }

        @Override
        public int poll(CompletionHandler handler, int limit) {
            return pair.poll(
                    (polled, status) -> {
                        if (posted.removeFirst() && status == CompletionStatus.LANDED) {
                            simulation.violation("an append of server " + from + " landed at server " + to
                                    + " after the fence that cut it off");
                        }
                        if (status == CompletionStatus.VOIDED) {
                            simulation.eventCounters().count("appends voided by another's fence");
                        }
                        handler.onCompletion(polled, status);
                    },
                    limit);
        }

        @Override
        public long acquireCredit(long requested) {
            return pair.acquireCredit(requested);
        }

        @Override
        public void returnCredit(long bytes) {
            pair.returnCredit(bytes);
        }

        @Override
        public void useReserve() {
            pair.useReserve();
        }

        @Override
        public boolean isFenced() {
            return pair.isFenced();
        }

        @Override
        public int remoteServerId() {
            return pair.remoteServerId();
        }

        @Override
        public void close() {
            pairs.remove(this);
            pair.close();
        }
    }
}
