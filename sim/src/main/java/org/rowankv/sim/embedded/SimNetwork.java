package org.rowankv.sim.embedded;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;

/** The network from clients to servers: it loses, duplicates and delays some attempts. */
public final class SimNetwork {
    private static final long TRAVEL_NS = 20_000;
    private static final long LATE_NS = 20_000_000;

    private final EmbeddedSimulation simulation;
    private final RandomSource random;
    private final int lossPerMille;

    SimNetwork(EmbeddedSimulation simulation, RandomSource random, int lossPerMille) {
        this.simulation = simulation;
        this.random = random;
        this.lossPerMille = lossPerMille;
    }

    private long soon() {
        return simulation.timeline().nowNs() + random.nextInt((int) TRAVEL_NS);
    }

    private long late() {
        return simulation.timeline().nowNs() + random.nextInt((int) LATE_NS);
    }

    void send(SimClient client, int attempt, Request request) {
        if (!simulation.store().isUp()) {
            return; // there is no server to connect to
        }
        final SimLinks links = simulation.store().links();
        final int server = simulation.store().serverOf(request.shard()).serverId();
        if (links.isCut(links.clients(), server)) {
            simulation.eventCounters().count("requests lost on cut links");
            return;
        }
        if (random.nextInt(1000) >= lossPerMille) {
            deliver(client, attempt, request, links.isSlow(links.clients(), server) ? late() : soon(), false, false);
            return;
        }
        switch (random.nextInt(5)) {
            case 0 -> simulation.eventCounters().count("requests lost");
            case 1 -> {
                simulation.eventCounters().count("replies lost");
                deliver(client, attempt, request, soon(), true, false);
            }
            case 2 -> {
                simulation.eventCounters().count("requests doubled");
                deliver(client, attempt, request, soon(), false, true);
                deliver(null, attempt, request, soon(), false, true);
            }
            case 3 -> {
                simulation.eventCounters().count("requests doubled late");
                deliver(client, attempt, request, soon(), false, true);
                deliver(null, attempt, request, late(), false, true);
            }
            default -> {
                // Its sender retries it meanwhile.
                simulation.eventCounters().count("requests late");
                deliver(client, attempt, request, late(), false, false);
            }
        }
    }

    private void deliver(
            @Nullable SimClient client, int attempt, Request request, long atNs, boolean replyLost, boolean doubled) {
        simulation
                .scheduler()
                .add(new Delivery(simulation, copyOf(request), client, attempt, atNs, replyLost, doubled));
    }

    /** A separate attempt of the same request. */
    public static Request copyOf(Request request) {
        final byte[] key =
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength());
        final byte[] value = Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
        final Request copy = new Request();
        switch (request.operation()) {
            case GET -> copy.get(request.cacheId(), key, 0, key.length);
            case PUT -> copy.put(request.cacheId(), key, 0, key.length, value, 0, value.length);
            case DELETE -> copy.delete(request.cacheId(), key, 0, key.length);
            case TOUCH ->
                copy.touch(request.cacheId(), key, 0, key.length, request.expectedVersion(), request.accessTtlMs());
            case CLEAR -> copy.clear(request.cacheId(), request.shard());
            case OPEN_SESSION -> copy.openSession(request.shard(), request.sessionId(), request.asOf());
            case CLOSE_SESSION -> copy.closeSession(request.shard(), request.sessionId());
        }
        copy.when(request.condition(), request.expectedVersion())
                .ttl(request.createTtlMs(), request.updateTtlMs())
                .accessTtl(request.accessTtlMs())
                .requestValue(request.needsValue());
        copy.placed(request.hash(), request.shard());
        if (request.operation() != Operation.OPEN_SESSION && request.operation() != Operation.CLOSE_SESSION) {
            copy.identified(request.sessionId(), request.sequence(), request.unanswered());
        }
        return copy;
    }

    /** Copies a server's reply to the client's own request. */
    public static void copyAnswer(Request from, Request to) {
        to.clearAnswer();
        if (from.hasResult()) {
            System.arraycopy(from.result(), 0, to.resultOf(from.resultLength()), 0, from.resultLength());
        }
        to.answer(from.status(), from.bits(), from.version(), from.previousVersion());
    }
}
