package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.SteppedRequest;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.workload.Inclination;
import org.rowankv.sim.workload.WorkloadClient;

/** A user of the driver's own code: asks random things of random keys, one at a time, and writes down what it is told. */
final class SimUser extends Turned {
    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final SimRouting routing;
    private final RowanClient client;
    private final WorkloadClient asks;
    private long nextAtNs;
    /** Nobody wants to be asked anything. */
    private boolean parked;

    /** The operation under way. */
    private @Nullable SteppedRequest stepped;

    SimUser(int number, ClusterSimulation simulation, RandomSource random, SimRouting routing) {
        super(null);
        this.simulation = simulation;
        this.random = random;
        this.asks = simulation.workload().client(number, random.fork("questions"), Inclination.NONE);
        this.client = new RowanClient(routing, simulation.userClock(), random.fork("client"), 20 * routing.attemptNs());
        this.routing = routing;
        routing.serve(this);
        simulation.turns().add(this);
    }

    boolean isIdle() {
        return stepped == null;
    }

    /** Questions are welcome again. */
    void goOn() {
        parked = false;
        simulation.turns().changed(this);
    }

    @Override
    long readyAtNs() {
        return stepped != null ? routing.readyAtNs() : parked ? NEVER : nextAtNs;
    }

    @Override
    void step() {
        final SteppedRequest own = stepped;
        if (own == null) {
            if (simulation.isAccepting()) {
                ask();
            } else {
                parked = true;
            }
            return;
        }
        if (!routing.advance()) {
            return;
        }
        final Request next = own.answered();
        if (next != null) {
            send(next);
            return;
        }
        stepped = null;
        nextAtNs = simulation.timeline().nowNs()
                + random.nextInt(100_000 + (int) (20 * simulation.plan().stepNs()));
        end();
    }

    private void ask() {
        final Request request = asks.begin();
        simulation.onBegun();
        final SteppedRequest begun = client.stepped(request);
        stepped = begun;
        send(begun.first());
    }

    private void send(Request attempt) {
        asks.sends(attempt);
        routing.begin(attempt);
    }

    private void end() {
<<<<<<< Updated upstream
        simulation.onEnded(asks.request().status(), asks.request().version());
        asks.end();
=======
        final long returnedNs = simulation.timeline().nowNs();
        final Status status = request.status();
        simulation.onEnded(status, request.version());
        final Outcome outcome = outcomeOf(status);
        if (action == Action.GET && (outcome == Outcome.REFUSED || outcome == Outcome.UNKNOWN)) {
            return; // learned nothing
        }
        if (status == Status.OK || status == Status.CONDITION_FAILED) {
            lastVersion[key] = request.version();
        }
        final Event event = new Event(
                number,
                action,
                written,
                action.expectsVersion() ? request.expectedVersion() : 0,
                outcome,
                outcome == Outcome.NOT_FOUND ? 0 : request.version(),
                request.previousVersion(),
                observed(outcome),
                invokedNs,
                returnedNs);
        if (simulation.trace().isRead()) {
            simulation
                    .trace()
                    .tell("user " + number + " key " + key + " " + action.label() + " #" + Long.toHexString(written)
                            + ": " + status + " " + event);
        }
        if (outcome == Outcome.DONE && action.makesVersion()) {
            simulation.versionGiven(request.shard(), event.version());
        }
        log.add(key, event);
    }

    private long observed(Outcome outcome) {
        if (!wantsOld || outcome != Outcome.DONE && outcome != Outcome.CONDITION_FAILED) {
            return Event.NOT_ASKED;
        }
        if (request.hasResult() && request.has(ResultBits.EXISTED)) {
            return values.idIn(request.result(), request.resultLength());
        }
        return outcome == Outcome.DONE ? Event.ABSENT : Event.NOT_ASKED;
    }

    private Outcome outcomeOf(Status status) {
        return switch (status) {
            case OK -> Outcome.DONE;
            case NOT_FOUND -> Outcome.NOT_FOUND;
            case CONDITION_FAILED -> Outcome.CONDITION_FAILED;
            case OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
            // NO_REPLY is the answer of a read; UNREACHABLE also when not even the session could be opened.
            case FULL, TOO_LARGE, UNREACHABLE, NO_REPLY, NO_VERSION, SESSION_EXPIRED -> Outcome.REFUSED;
            case CORRUPTED -> {
                simulation.deviceFaults().requireRotten("user " + number + " finds key " + key + " damaged");
                yield Outcome.REFUSED;
            }
            default -> {
                simulation.violation("user " + number + " got the answer " + status + ", which nobody should see");
                yield Outcome.REFUSED;
            }
        };
>>>>>>> Stashed changes
    }
}
