package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.Task;
import org.rowankv.sim.verbs.VerbsLinks;
import org.rowankv.sim.verbs.VerbsNetwork;

/**
 * The network between hosts, at the level of TCP connections. Bytes arrive in order or not at all, in chunks of any
 * size. A link may be slow or pass nothing for a while, in one direction. A connection may break in the middle of its
 * data in flight, with or without notification of either end. What a process sent before it ended still arrives.
 */
final class SimNetworkLinks implements VerbsLinks {
    private static final int SLOWER = 100;
    private static final long REFUSED_AFTER_NS = 100_000;

    /** Result of a connection attempt; called on the event loop of the connecting process. */
    interface Outcome {
        void connected();

        void refused(String why);
    }

    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final int latencyNs;
    private final int splitPercent;
    private final Map<Integer, SimListener> listeners = new HashMap<>();
    private final List<SimChannel> connections = new ArrayList<>();
    private final VerbsNetwork verbs;
    /** By sender and receiver: until when nothing passes, until when everything is slow. */
    private final long[][] cutUntilNs;

    private final long[][] slowUntilNs;

    SimNetworkLinks(ClusterSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
        this.verbs = new VerbsNetwork(this, random.fork("verbs"), ClusterPlan.FIRST_PORT);
        this.latencyNs = simulation.clusterPlan().latencyNs();
        this.splitPercent = simulation.clusterPlan().splitPercent();
        final int nodes = simulation.plan().servers() + 1;
        this.cutUntilNs = new long[nodes][nodes];
        this.slowUntilNs = new long[nodes][nodes];
    }

    /** Its RDMA devices. */
    VerbsNetwork verbs() {
        return verbs;
    }

    @Override
    public long nowNs() {
        return simulation.timeline().nowNs();
    }

    // --- links ---

    /** The node that stands for all clients. */
    int clients() {
        return simulation.plan().servers();
    }

    void cut(int from, int to, long untilNs) {
        cutUntilNs[from][to] = Math.max(cutUntilNs[from][to], untilNs);
    }

    void slow(int from, int to, long untilNs) {
        slowUntilNs[from][to] = Math.max(slowUntilNs[from][to], untilNs);
    }

    void heal() {
        for (int from = 0; from <= clients(); from++) {
            Arrays.fill(cutUntilNs[from], 0);
            Arrays.fill(slowUntilNs[from], 0);
        }
    }

    boolean isCut(int from, int to) {
        return cutUntilNs[from][to] > nowNs();
    }

    /** Arrival time of data sent now: on a cut link after it has healed, because TCP retransmits. */
    @Override
    public long arrivalNs(int from, int to) {
        final int most = slowUntilNs[from][to] > nowNs() ? SLOWER * latencyNs : latencyNs;
        return Math.max(nowNs(), cutUntilNs[from][to]) + 1 + random.nextInt(most);
    }

    @Override
    public void at(long ns, Runnable what) {
        simulation.scheduler().at(ns, what);
    }

    @Override
    public int together(int bytes) {
        return random.nextInt(100) < splitPercent ? 1 + random.nextInt(bytes) : bytes;
    }

    @Override
    public void count(String event) {
        simulation.eventCounters().count(event);
    }

    @Override
    public void violation(String what) {
        simulation.violation(what);
    }

    // --- connections ---

    void listens(int port, SimListener listener) {
        listeners.put(port, listener);
    }

    void connect(SimChannel channel, int port, Outcome outcome) {
        final int from = channel.process().host().number();
        final @Nullable SimListener found = listeners.get(port);
        final int to = port - ClusterPlan.FIRST_PORT;
        simulation.scheduler().at(arrivalNs(from, to), () -> {
            final SimListener listener = listeners.get(port);
            if (listener == null || listener.process().isDead() || !listener.isActive()) {
                simulation.eventCounters().count("connections refused without a listener");
                onLoop(channel, REFUSED_AFTER_NS, () -> outcome.refused("Connection refused"));
                return;
            }
            if (!listener.equals(found)) {
                simulation.eventCounters().count("connections that another life of a server answered");
            }
            final SimChannel accepted = new SimChannel(this, listener.process(), listener);
            if (!channel.isOpen() || channel.process().isDead()) {
                return;
            }
            channel.pair(accepted);
            accepted.pair(channel);
            connections.add(channel);
            listener.eventLoop().execute(() -> listener.accept(accepted));
            onLoop(channel, arrivalNs(to, from) - nowNs(), outcome::connected);
        });
    }

    private void onLoop(SimChannel channel, long afterNs, Runnable what) {
        simulation.scheduler().at(nowNs() + afterNs, () -> {
            if (!channel.process().isDead()) {
                channel.eventLoop().execute(what);
            }
        });
    }

    void carry(SimChannel from, SimChannel to, byte[] bytes) {
        final int sender = from.process().host().number();
        final int receiver = to.process().host().number();
        int at = 0;
        while (at < bytes.length) {
            final int length = together(bytes.length - at);
            to.incoming().carry(Arrays.copyOfRange(bytes, at, at + length), arrivalNs(sender, receiver));
            at += length;
        }
        if (from.breaksWith(bytes.length)) {
            breakLate(from, to);
        }
        to.process().nic().changed();
    }

    /**
     * A middlebox that buffers bytes drops the sender: the sender is notified and opens another connection, while its
     * last data is still in flight.
     */
    private void breakLate(SimChannel from, SimChannel to) {
        connections.remove(from);
        connections.remove(to);
        final long kept = random.nextInt((int) from.incoming().underWay() + 1);
        from.incoming().breakAfter(kept, nowNs() + 1 + random.nextInt(20 * latencyNs));
        from.process().nic().changed();
        to.incoming().breakLate(nowNs() + 1 + random.nextInt(1 << 16 + random.nextInt(13)));
        simulation.eventCounters().count("connections that broke with bytes still to come");
    }

    /** One end closed: the other reads what was sent before, and then the end. */
    void closed(SimChannel channel) {
        final SimChannel peer = channel.peer();
        connections.remove(channel);
        if (peer != null) {
            connections.remove(peer);
            peer.incoming()
                    .end(arrivalNs(
                            channel.process().host().number(),
                            peer.process().host().number()));
            peer.process().nic().changed();
        }
    }

    /** Open connections, each by the connecting end. */
    List<SimChannel> connections() {
        return connections;
    }

    /**
     * Breaks a connection: in each direction a prefix of the data in flight arrives, to the byte.
     *
     * @param isNotified whether the ends are notified; if not, they must detect the silence
     */
    void breakDown(SimChannel channel, boolean isNotified) {
        final SimChannel peer = channel.peer();
        if (peer == null) {
            return;
        }
        connections.remove(channel);
        for (SimChannel end : List.of(channel, peer)) {
            final long underWay = end.incoming().underWay();
            final long kept = random.nextInt((int) underWay + 1);
            if (underWay > kept) {
                simulation.eventCounters().count("connections that broke with bytes on their way");
            }
            end.incoming().breakAfter(kept, isNotified ? nowNs() + 1 + random.nextInt(20 * latencyNs) : Task.NEVER);
            end.process().nic().changed();
        }
    }

    /**
     * A process has ended. What it had sent still arrives, then the end; data sent to it is discarded.
     *
     * @param isSilent whether its machine ended with it: no peer is notified
     */
    void ended(SimProcess process, boolean isSilent) {
        for (SimChannel channel : List.copyOf(process.nic().channels())) {
            final SimChannel peer = channel.peer();
            connections.remove(channel);
            if (peer != null && !peer.process().isDead()) {
                connections.remove(peer);
                if (peer.incoming().underWay() > 0) {
                    simulation.eventCounters().count("lives that ended with bytes on their way");
                }
                if (isSilent) {
                    peer.incoming()
                            .breakAfter(random.nextInt((int) peer.incoming().underWay() + 1), Task.NEVER);
                } else {
                    peer.incoming()
                            .end(arrivalNs(
                                    process.host().number(),
                                    peer.process().host().number()));
                }
                peer.process().nic().changed();
            }
        }
    }
}
