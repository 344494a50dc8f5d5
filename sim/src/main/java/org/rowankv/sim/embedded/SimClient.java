package org.rowankv.sim.embedded;

import org.rowankv.sim.SimPlan;
import org.rowankv.sim.Task;
import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.session.RequestAttempts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.WorkloadClient;

/**
 * A client that runs the driver's own code: performs random operations on random keys, one at a time, and records the
 * replies.
 */
final class SimClient extends Task {
    private static final int MOST_DOUBLINGS = 4;

    private final int number;
    private final EmbeddedSimulation simulation;
    private final SimPlan plan;
    private final RandomSource random;
    private final long timeoutNs;
    private final WorkloadClient asks;

    private RowanClient client;
    private int clientsBefore;

    // --- the operation in progress ---
    private @Nullable RequestAttempts stepped;
    private @Nullable Request sent;
    private @Nullable Request received;
    /** Sent when the pause before it is over. */
    private @Nullable Request upcoming;

    private long pauseEndNs;
    private int attempt;
    private int repetitions;
    private long timeoutAtNs;
    private long nextAtNs;
    private boolean leaving;

    SimClient(int number, EmbeddedSimulation simulation, RandomSource random) {
        this.number = number;
        this.simulation = simulation;
        this.plan = simulation.plan();
        this.random = random;
        this.timeoutNs = 3_000_000 + 300 * plan.stepNs();
        this.asks = simulation.workload().client(number, random.fork("questions"), simulation.bias());
        this.client = newClient();
    }

    private RowanClient newClient() {
        return new RowanClient(
                simulation.session(),
                simulation.store().clientClock(),
                random.fork("client " + clientsBefore++),
                20 * timeoutNs,
                simulation.form().counters());
    }

    int number() {
        return number;
    }

    boolean isIdle() {
        return stepped == null;
    }

    /** Leaves in order, and returns as another client. Precondition: idle. */
    void leave() {
        leaving = true;
        try {
            client.close();
        } catch (RowanException e) {
            if (simulation.form().deadlineMs() == 0 || e.status() != Status.UNREACHABLE && e.status() != Status.OUTCOME_UNKNOWN) {
                throw e;
            }
            simulation.eventCounters().count("clients that left without closing their sessions");
        } finally {
            leaving = false;
        }
        client = newClient();
    }

    /**
     * Vanishes without closing anything, and returns as another client: its sessions end with their leases.
     * Precondition: idle.
     */
    void vanish() {
        client = newClient();
    }

    @Override
    public long readyAtNs() {
        if (stepped == null) {
            return simulation.isAccepting() && !leaving && simulation.bias().lets(number) ? nextAtNs : NEVER;
        }
        if (upcoming != null) {
            return pauseEndNs;
        }
        return received != null ? 0 : timeoutAtNs;
    }

    @Override
    public void step() {
        final RequestAttempts own = stepped;
        final Request asked = sent;
        if (own == null || asked == null) {
            begin();
            return;
        }
        if (upcoming != null) {
            send(upcoming);
            return;
        }
        final Request answer = received;
        received = null;
        if (answer != null) {
            SimNetwork.copyAnswer(answer, asked);
        } else {
            simulation.eventCounters().count("attempts given up");
            asked.clearAnswer();
            asked.answer(Status.NO_REPLY, 0, 0, 0);
        }
        final Request next = own.answered();
        if (next == null) {
            stepped = null;
            sent = null;
            end();
        } else if (own.pauseNs() > 0) {
            upcoming = next;
            pauseEndNs = simulation.timeline().nowNs() + own.pauseNs();
        } else {
            send(next);
        }
    }

    /** Receives the reply of an attempt; a late one is ignored. */
    void receive(int answeredAttempt, Request answer) {
        if (stepped != null && upcoming == null && answeredAttempt == attempt) {
            received = answer;
        }
    }

    /** The run ends before the operation does: it may take effect, or not. */
    void giveUp() {
        if (stepped != null) {
            asks.giveUp();
        }
    }

    private void send(Request next) {
        // Exponential back-off: otherwise attempts pile up at a stalled server.
        repetitions = next == sent ? Math.min(MOST_DOUBLINGS, repetitions + 1) : 0;
        sent = next;
        upcoming = null;
        attempt++;
        asks.sends(next);
        timeoutAtNs = simulation.timeline().nowNs() + (timeoutNs / 2 + random.nextInt((int) timeoutNs) << repetitions);
        simulation.network().send(this, attempt, next);
    }

    private void begin() {
        final Request request = asks.begin();
        simulation.onBegun();
        final RequestAttempts begun = client.attempts(request);
        stepped = begun;
        send(requireNonNull(begun.next()));
    }

    private void end() {
        nextAtNs = simulation.timeline().nowNs() + random.nextInt((int) (8 * plan.stepNs()));
        simulation.onEnded(this, asks.request());
        asks.end();
    }

    @Override
    public String toString() {
        return "client " + number;
    }
}
