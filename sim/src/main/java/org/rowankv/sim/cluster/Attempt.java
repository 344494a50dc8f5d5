package org.rowankv.sim.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.sim.ClientNetwork.Message;

/** One attempt that has arrived at a server's process: its execution, and its reply if a client waits for it. */
final class Attempt extends ProcessTask {
    private static final long LONGEST_REST_NS = 10_000_000;
    private static final int WAITS_BEFORE_HELP = 8;

    private final ClusterSimulation simulation;
    private final SimProcess process;
    private final Message message;
    private final Request request;
    private SimProcess.@Nullable Door door;
    private @Nullable SimLoop loop;
    private @Nullable PollableCall call;
    private boolean over;
    private long restsUntilNs;
    private long idleNs;
    private int waits;

    Attempt(ClusterSimulation simulation, SimProcess process, Message message) {
        super(process);
        this.simulation = simulation;
        this.process = process;
        this.message = message;
        this.request = message.request();
    }

    @Override
    public long readyAtNs() {
        return Math.max(restsUntilNs, process.pausedUntilNs());
    }

    @Override
    public boolean isGone() {
        return over || isDead();
    }

    private void end() {
        over = true;
    }

    /** The server lost its roles meanwhile: the outcome is unknown, as after a closed client connection. */
    private void giveUp() {
        final PollableCall own = call;
        if (own != null) {
            own.abandon();
        }
        simulation.eventCounters().count("attempts whose server lost its roles");
        end();
    }

    @Override
    public void step() {
        PollableCall own = call;
        if (own == null) {
            final SimProcess.Door open = process.door();
            if (open == null) {
                answer(Status.UNREACHABLE);
                return;
            }
            if (open.configuration().term() != message.term()) {
                answer(Status.STALE_TERM);
                return;
            }
            if (!open.caches().knows(request.cacheId())) {
                answer(Status.UNKNOWN_CACHE);
                return;
            }
            simulation.services().arrived(request);
            door = open;
            final List<SimLoop> loops = open.loops();
            final SimLoop taken = loops.get(Math.floorMod(message.attempt(), loops.size()));
            loop = taken;
            own = taken.callOf(request);
            call = own;
        }
        final SimProcess.Door entered = door;
        final SimLoop entering = loop;
        if (entering != null && entering.isPolling()) {
            restsUntilNs = simulation.timeline().nowNs() + 1_000;
            return;
        }
        if (entered == null || entering == null || entered.server().isStopped()) {
            giveUp();
            return;
        }
        try {
            if (!entering.poll(own)) {
                // Helps as an idle port does; tasks it waits for run meanwhile.
                if (++waits == WAITS_BEFORE_HELP) {
                    waits = 0;
                    entering.help();
                }
                idleNs = Math.min(LONGEST_REST_NS, 1 + 2 * idleNs);
                restsUntilNs = simulation.timeline().nowNs() + idleNs;
                return;
            }
        } catch (IllegalStateException e) {
            if (!entered.server().isStopped()) {
                throw e;
            }
            giveUp();
            return;
        }
        end();
        simulation.services().answered(request);
        simulation.noteAnswer(request);
        reply();
    }

    private void answer(Status status) {
        end();
        request.noResult();
        request.answer(status, 0, 0, 0);
        reply();
    }

    private void reply() {
        final boolean refused = switch (request.status()) {
            case STALE_TERM, NOT_PRIMARY, UNREACHABLE, CLOSED, SESSION_EXPIRED -> true;
            default -> false;
        };
        if (!(message.isDoubled() && refused)) {
            simulation.network().answer(message, request);
        }
    }

    @Override
    public String toString() {
        return message + " at " + process;
    }
}
