package org.rowankv.sim.embedded;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.engine.Server;
import org.rowankv.sim.CallerDeath;
import org.rowankv.sim.ClientNetwork.Message;
import org.rowankv.sim.Exchange;
import org.rowankv.sim.Task;

/** One attempt in flight: to the server, through it on its own thread, and back with the reply, if a client waits for that. */
final class Delivery extends Task {
    private final EmbeddedSimulation simulation;
    private final Message message;
    private final Request request;
    private final long arrivesAtNs;
    private final ServerAgent agents;
    private @Nullable PollableCall call;
    /** It arrived at a store that had stopped itself: only a refusal is correct. */
    private boolean isToBeRefused;

    private boolean over;

    Delivery(EmbeddedSimulation simulation, Message message, long arrivesAtNs) {
        this.simulation = simulation;
        this.message = message;
        this.request = message.request();
        this.arrivesAtNs = arrivesAtNs;
        this.agents = simulation.store().scheduling().servers().get(message.server());
    }

    /** Whether its reply precedes the duplicate check: only this network duplicates a request in flight. */
    private boolean saysNothingOfItsTwin() {
        return switch (request.status()) {
            case CLOSED, SESSION_EXPIRED, NOT_PRIMARY -> true;
            default -> false;
        };
    }

    private boolean isReplyLost() {
        final SimLinks links = simulation.store().links();
        if (links.isCut(message.server(), links.clients())) {
            simulation.eventCounters().count("replies lost on cut links");
            return true;
        }
        return false;
    }

    /** Whether it is another attempt of the same mutation, and a server is executing it. */
    boolean isUnderWayWith(Delivery other) {
        return this != other
                && call != null
                && !over
                && request.sequence() != 0
                && request.sessionId() == other.request.sessionId()
                && request.sequence() == other.request.sequence();
    }

    /** Whether that client has sent it to that server. */
    boolean isOf(Exchange exchange, int server) {
        return message.from() == exchange && message.server() == server;
    }

    int shard() {
        return request.shard();
    }

    boolean isOver() {
        return over;
    }

    @Override
    public long readyAtNs() {
        return over || call == null && !simulation.store().isUp()
                ? NEVER
                : Math.max(arrivesAtNs, agents.pausedUntilNs());
    }

    @Override
    public void step() {
        try {
            PollableCall own = call;
            if (own == null) {
                simulation.scheduler().arrived(this);
                simulation.services().arrived(request);
                isToBeRefused = simulation.stops().isStopped();
                final Server asked = simulation.store().cluster().servers().get(message.server());
                own = asked.requests().stepped(request);
                call = own;
            }
            if (own.step()) {
                over = true;
                if (isToBeRefused && request.status() != Status.CLOSED) {
                    simulation.violation(
                            this + " was answered " + request.status() + " by a store that had stopped itself");
                }
                simulation.onAnswered(request, message.isCopy());
                final Exchange awaiting = message.awaiting();
                if (awaiting != null && !isReplyLost() && !(message.isDoubled() && saysNothingOfItsTwin())) {
                    awaiting.receive(message.attempt(), request);
                }
            } else if (simulation.stops().isStopped()) {
                // Like a blocking caller: it receives the failure instead of a reply, and releases what it holds.
                over = true;
                own.abandon();
                simulation.eventCounters().count("attempts that a store which stopped itself never answered");
            }
        } catch (NotServedException | ForceFailedException e) {
            over = true;
            simulation.stops().onRefusal(e);
        } catch (CallerDeath e) {
            over = true;
            simulation.eventCounters().count("callers' threads died");
            simulation.trace().tell("its thread died: " + e.getMessage());
        }
    }

    @Override
    public boolean isCaller() {
        return true;
    }

    @Override
    public String toString() {
        return message.toString();
    }
}
