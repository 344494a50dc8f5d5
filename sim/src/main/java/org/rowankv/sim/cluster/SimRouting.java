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
    /** It was told to ask somebody else, and does so in a while. */
    private boolean pausing;

    private long untilNs;
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

    /** An attempt of its user begins: it is carried to an answer, to whichever servers it has to go. */
    void begin(Request next) {
        // Who repeats waits longer each time: else attempts pile up at a server that stands still.
        doublings = next == request ? Math.min(MOST_DOUBLINGS, doublings + 1) : 0;
        request = next;
        untilNs = simulation.timeline().nowNs() + (4 * attemptNs << doublings);
        pauses = 0;
        ask(next);
    }

    /** From when on {@link #advance} does something. */
    long readyAtNs() {
        return answer != null ? 0 : atNs;
    }

    /** An answer is there, or the time has come; true when the attempt has its answer. */
    boolean advance() {
        final Request asked = request;
        if (asked == null) {
            throw new AssertionError(name + " asks for nothing");
        }
        if (pausing) {
            ask(asked);
            return false;
        }
        final Request found = answer;
        answer = null;
        attempt++;
        if (found == null) {
            learn();
            asked.noResult();
            asked.answer(Status.NO_REPLY, 0, 0, 0);
            return true;
        }
        final Status status = found.status();
        final boolean isForAnother = status == Status.STALE_TERM
                || status == Status.NOT_PRIMARY
                || status == Status.UNREACHABLE
                || status == Status.CLOSED
                || status == Status.NO_VERSION;
        if (!isForAnother) {
            SimNetwork.copyAnswer(found, asked);
            return true;
        }
        simulation.happenings().count("attempts answered " + status);
        final long nowNs = simulation.timeline().nowNs();
        if (nowNs >= untilNs) {
            asked.noResult();
            asked.answer(Status.UNREACHABLE, 0, 0, 0);
            return true;
        }
        learn();
        pausing = true;
        atNs = nowNs + (attemptNs / 4 + random.nextInt((int) attemptNs) << pauses++);
        return false;
    }

    private void ask(Request asked) {
        pausing = false;
        atNs = simulation.timeline().nowNs() + (attemptNs / 2 + random.nextInt((int) attemptNs) << doublings);
        simulation
                .network()
                .send(
                        this,
                        ++attempt,
                        asked,
                        known.term(),
                        known.shard(asked.shard()).primary());
    }

    /** The answer of an attempt; too late, it is not heard. */
    void receive(int ofAttempt, Request answered) {
        final Turned who = user;
        if (who != null && ofAttempt == attempt && !pausing) {
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
