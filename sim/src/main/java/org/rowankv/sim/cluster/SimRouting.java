package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.SimNetwork;
import org.rowankv.topology.Configuration;

/**
 * The connections of one client to the cluster: knows a configuration, which may be old; asks whoever is primary in it; and
 * learns a newer one when it is told so or nobody answers. In the turns of the client.
 */
final class SimRouting implements Session {
    private static final int MOST_DOUBLINGS = 3;

    private final ClusterSimulation simulation;
    private final String name;
    private final RandomSource random;
    private final long attemptNs;
    private Configuration known;
    private @Nullable Turned user;
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
                + 40L * simulation.plan().latencyNs();
    }

    long attemptNs() {
        return attemptNs;
    }

    @Override
    public Configuration configuration() {
        return known;
    }

    @Override
    public boolean mayLoseReplies() {
        return true;
    }

    @Override
    public void call(Request request) {
        throw new UnsupportedOperationException("its user does not wait");
    }

    /** Makes an attempt of its user. */
    void begin(Request next) {
        // Who repeats waits longer each time: else attempts pile up at a server that stands still.
        final boolean isRepeated = next == request;
        final boolean isLost = isRepeated && next.status() == Status.NO_REPLY;
        doublings = isLost ? Math.min(MOST_DOUBLINGS, doublings + 1) : isRepeated ? doublings : 0;
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

    /** When {@link #finish} is due: at the answer, or when its time is over. */
    long readyAtNs() {
        return answer != null ? 0 : atNs;
    }

    /** The attempt is over: the request has the answer that came, or NO_REPLY. */
    void finish() {
        final Request asked = request;
        if (asked == null) {
            throw new AssertionError(name + " asks for nothing");
        }
        final Request found = answer;
        answer = null;
        attempt++;
        if (found == null) {
            learn();
            asked.fail(Status.NO_REPLY);
        } else if (found.status() == Status.CLOSED) {
            count(found.status());
            asked.fail(Status.UNREACHABLE); // of a process that ends: the next one may do it
        } else {
            SimNetwork.copyAnswer(found, asked);
            if (found.status().isForAnother()) {
                count(found.status());
            }
        }
    }

    private void count(Status status) {
        simulation.happenings().count("attempts answered " + status);
    }

    /** How much longer than it should its user pauses before the next attempt. */
    long pauseNs() {
        final Request asked = request;
        return asked == null || !asked.status().isForAnother()
                ? 0
                : attemptNs / 4 + random.nextInt((int) attemptNs) << Math.min(MOST_DOUBLINGS, pauses++);
    }

    @Override
    public boolean seek(long knownTerm) {
        learn();
        return known.term() > knownTerm;
    }

    /** The answer of an attempt; too late, it is not heard. */
    void receive(int ofAttempt, Request answered) {
        final Turned who = user;
        if (who != null && ofAttempt == attempt) {
            answer = answered;
            simulation.turns().changed(who);
        }
    }

    /** Whose it is. */
    void serve(Turned newUser) {
        user = newUser;
    }

    /** Any server that serves tells what it knows. */
    private void learn() {
        final SimHost host =
                simulation.hosts().get(random.nextInt(simulation.hosts().size()));
        final SimProcess process = host.process();
        final SimProcess.Door door = process == null ? null : process.door();
        if (door != null && door.configuration().term() > known.term()) {
            known = door.configuration();
            simulation.happenings().count("configurations that clients learned");
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
        // Nothing is held.
    }

    @Override
    public String toString() {
        return name;
    }
}
