package org.rowankv.sim.cluster;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.RequestAttempts;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.WorkloadBias;
import org.rowankv.sim.workload.WorkloadClient;

/**
 * A client that runs the driver's own code: performs random operations on random keys, one at a time, and records the
 * replies.
 */
final class SimUser extends ProcessTask {
    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final SimRouting routing;
    private final RowanClient client;
    private final WorkloadClient asks;
    private long nextAtNs;
    /** The client is paused: it starts no operation. */
    private boolean parked;

    /** The operation in progress. */
    private @Nullable RequestAttempts stepped;
    /** Sent when the pause before it is over. */
    private @Nullable Request upcoming;

    private long pauseEndNs;

    SimUser(
            int number,
            ClusterSimulation simulation,
            RandomSource random,
            SimRouting routing,
            WorkloadBias inclination) {
        super(null);
        this.simulation = simulation;
        this.random = random;
        this.asks = simulation.workload().client(number, random.fork("questions"), inclination);
        this.client = new RowanClient(
                routing,
                simulation.userClock(),
                random.fork("client"),
                simulation.form().attempts() * routing.attemptNs(),
                simulation.form().counters());
        this.routing = routing;
        routing.serve(this);
        simulation.scheduler().add(this);
    }

    boolean isIdle() {
        return stepped == null;
    }

    /** Ends the pause. */
    void goOn() {
        parked = false;
        simulation.scheduler().changed(this);
    }

    @Override
    public long readyAtNs() {
        if (upcoming != null) {
            return pauseEndNs;
        }
        return stepped != null ? routing.readyAtNs() : parked ? NEVER : nextAtNs;
    }

    @Override
    public void step() {
        final RequestAttempts own = stepped;
        if (own == null) {
            if (simulation.isAccepting()) {
                ask();
            } else {
                parked = true;
            }
            return;
        }
        if (upcoming != null) {
            send(upcoming);
            return;
        }
        routing.finish();
        final Request next = own.answered();
        if (next != null) {
            pauseEndNs = simulation.timeline().nowNs() + own.pauseNs() + routing.pauseNs();
            upcoming = next;
            return;
        }
        stepped = null;
        nextAtNs = simulation.timeline().nowNs()
                + simulation.form().thinkNs()
                + random.nextInt(100_000 + (int) (20 * simulation.plan().stepNs()));
        end();
    }

    private void ask() {
        final Request request = asks.begin();
        simulation.onBegun();
        final RequestAttempts begun = client.attempts(request);
        stepped = begun;
        send(requireNonNull(begun.next()));
    }

    private void send(Request attempt) {
        upcoming = null;
        asks.sends(attempt);
        routing.begin(attempt);
    }

    private void end() {
        simulation.onEnded(asks.request());
        asks.end();
    }
}
