package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.Task;
import org.rowankv.sim.embedded.SimNetwork;
import org.rowankv.topology.Configuration;

/**
 * The connections of one client to the cluster. It holds a configuration, which may be stale; sends requests to the
 * primary in it; and fetches a newer one on request, or when no reply arrives. Runs in the client's steps.
 */
final class SimRouting implements Session {
    private final ClusterSimulation simulation;
    private final String name;
    private final RandomSource random;
    private final long attemptNs;
    private Configuration known;
    private @Nullable Task user;
    private @Nullable Request request;
    private @Nullable Request answer;
    private int attempt;
    private int doublings;
    private int pauses;
    private long atNs;

    SimRouting(ClusterSimulation simulation, String name, RandomSource random, Configuration known) {
        this.simulation = simulation;
        this.name = name;
        this.random = random;
        this.known = known;
        this.attemptNs = 2_000_000
                + 300 * simulation.plan().stepNs()
                + 40L * simulation.form().latencyNs();
    }

    long attemptNs() {
        return attemptNs;
    }

    @Override
    public Configuration configuration() {
        return known;
    }

    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public void call(Request request) {
        throw new UnsupportedOperationException("its user does not wait");
    }

    /** Starts an attempt of its user. */
    void begin(Request next) {
        // Exponential back-off: otherwise attempts pile up at a stalled server.
        final boolean isRepeated = next == request;
        final boolean isLost = isRepeated && next.status() == Status.NO_REPLY;
        doublings = isLost ? Math.min(simulation.form().doublings(), doublings + 1) : isRepeated ? doublings : 0;
        pauses = isRepeated ? pauses : 0;
        request = next;
        atNs = simulation.timeline().nowNs() + (attemptNs / 2 + random.nextInt((int) attemptNs) << doublings);
        simulation
                .network()
                .send(
                        this,
                        ++attempt,
                        next,
                        known.term(),
                        known.shard(next.shard()).primary());
    }

    /** When {@link #finish} is due: at the reply, or at the deadline. */
    long readyAtNs() {
        return answer != null ? 0 : atNs;
    }

    /** The attempt is over: the request holds the reply, or NO_REPLY. */
    void finish() {
        final Request asked = request;
        if (asked == null) {
            throw new AssertionError(name + " has no request in progress");
        }
        final Request found = answer;
        answer = null;
        attempt++;
        if (found == null) {
            learn();
            asked.fail(Status.NO_REPLY);
        } else if (found.status() == Status.CLOSED) {
            count(found.status());
            asked.fail(Status.UNREACHABLE); // of an ending process: the next one may accept it
        } else {
            SimNetwork.copyAnswer(found, asked);
            if (found.status().isForAnother()) {
                count(found.status());
            }
        }
    }

    private void count(Status status) {
        simulation.eventCounters().count("attempts answered " + status);
    }

    /** Additional pause of its user before the next attempt. */
    long pauseNs() {
        final Request asked = request;
        return asked == null || !asked.status().isForAnother()
                ? 0
                : attemptNs / 4 + random.nextInt((int) attemptNs)
                        << Math.min(simulation.form().doublings(), pauses++);
    }

    @Override
    public boolean seek(long knownTerm) {
        learn();
        return known.term() > knownTerm;
    }

    /** The reply of an attempt; a late one is ignored. */
    void receive(int ofAttempt, Request answered) {
        final Task waiting = user;
        if (waiting != null && ofAttempt == attempt) {
            answer = answered;
            simulation.scheduler().changed(waiting);
        }
    }

    void serve(Task newUser) {
        user = newUser;
    }

    /** Any serving server sends the configuration it knows. */
    private void learn() {
        final SimHost host =
                simulation.hosts().get(random.nextInt(simulation.hosts().size()));
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        if (door != null && door.configuration().term() > known.term()) {
            known = door.configuration();
            simulation.eventCounters().count("configurations that clients learned");
        }
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Catalogue catalogue() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        // Stateless.
    }

    @Override
    public String toString() {
        return name;
    }
}
