package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.Catalogue;
import org.rowankv.driver.ScanPage;
import org.rowankv.driver.Session;
import org.rowankv.placement.Configuration;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.SimNetwork;

/**
 * The connections of one client to the cluster: knows a configuration, which may be old; asks whoever is primary in it; and
 * learns a newer one when it is told so or nobody answers. On the client's fiber.
 */
final class SimRouting implements Session {
    private final ClusterSimulation simulation;
    private final String name;
    private final RandomSource random;
    private final long attemptNs;
    private Configuration known;
    private @Nullable Fiber waiting;
    private @Nullable Request answer;
    private int attempt;

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
        final long untilNs = simulation.timeline().nowNs() + 4 * attemptNs;
        int pauses = 0;
        while (true) {
            final Request found = ask(request);
            if (found == null) {
                learn();
                request.noResult();
                request.answer(Status.NO_REPLY, 0, 0, 0);
                return;
            }
            final Status status = found.status();
            final boolean isForAnother = status == Status.STALE_TERM
                    || status == Status.NOT_PRIMARY
                    || status == Status.UNREACHABLE
                    || status == Status.CLOSED;
            if (!isForAnother) {
                SimNetwork.copyAnswer(found, request);
                return;
            }
            simulation.happenings().count("attempts answered " + status);
            if (simulation.timeline().nowNs() >= untilNs) {
                request.noResult();
                request.answer(Status.UNREACHABLE, 0, 0, 0);
                return;
            }
            learn();
            Fiber.required()
                    .rest(simulation.timeline().nowNs()
                            + (attemptNs / 4 + random.nextInt((int) attemptNs) << pauses++));
        }
    }

    /** The answer of one attempt, or null when none came in time. */
    private @Nullable Request ask(Request request) {
        final Fiber own = Fiber.required();
        final int number = ++attempt;
        waiting = own;
        answer = null;
        simulation
                .network()
                .send(
                        this,
                        number,
                        request,
                        known.term(),
                        known.shard(request.shard()).primary());
        final long untilNs = simulation.timeline().nowNs() + attemptNs / 2 + random.nextInt((int) attemptNs);
        while (answer == null && simulation.timeline().nowNs() < untilNs) {
            own.rest(untilNs);
        }
        waiting = null;
        attempt++;
        return answer;
    }

    /** The answer of an attempt; too late, it is not heard. */
    void receive(int ofAttempt, Request answered) {
        final Fiber who = waiting;
        if (who != null && ofAttempt == attempt) {
            answer = answered;
            who.wakeUp();
        }
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
