package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.embedded.SimNetwork;

/** The network from clients to servers: it loses, duplicates and delays some attempts. */
final class ClientNetwork {
    private final ClusterSimulation simulation;
    private final RandomSource random;
    private int onTheWay;

    ClientNetwork(ClusterSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
    }

    private long late() {
        return random.nextInt(200 * simulation.form().latencyNs());
    }

    /** @param term in which the client believes that server to be the primary */
    void send(SimRouting client, int attempt, Request request, long term, int server) {
        final SimNetworkLinks wire = simulation.wire();
        if (wire.isCut(wire.clients(), server)) {
            simulation.eventCounters().count("requests lost on cut links");
            return;
        }
        if (random.nextInt(1000) >= simulation.plan().lossPerMille()) {
            deliver(client, attempt, request, term, server, 0, false, false);
            return;
        }
        switch (random.nextInt(5)) {
            case 0 -> simulation.eventCounters().count("requests lost");
            case 1 -> {
                simulation.eventCounters().count("replies lost");
                deliver(client, attempt, request, term, server, 0, true, false);
            }
            case 2 -> {
                simulation.eventCounters().count("requests doubled");
                deliver(client, attempt, request, term, server, 0, true, true);
                deliver(null, attempt, request, term, server, late(), true, true);
            }
            case 3 -> {
                simulation.eventCounters().count("copies of requests that came late");
                deliver(client, attempt, request, term, server, 0, false, true);
                deliver(null, attempt, request, term, server, late(), true, true);
            }
            default -> {
                // Its sender retries it meanwhile.
                simulation.eventCounters().count("requests late");
                deliver(client, attempt, request, term, server, late(), false, false);
            }
        }
    }

    private void deliver(
            @Nullable SimRouting client,
            int attempt,
            Request request,
            long term,
            int server,
            long laterNs,
            boolean replyLost,
            boolean doubled) {
        final Request copy = SimNetwork.copyOf(request);
        final long atNs = simulation.wire().arrivalNs(simulation.wire().clients(), server) + laterNs;
        onTheWay++;
        simulation.scheduler().at(atNs, () -> arrive(replyLost ? null : client, attempt, copy, term, server, doubled));
    }

    /** Whether attempts are still in flight: one whose client has given up may still take effect. */
    boolean isCarrying() {
        return onTheWay > 0;
    }

    private void arrive(
            @Nullable SimRouting client, int attempt, Request request, long term, int server, boolean doubled) {
        onTheWay--;
        final SimProcess process = simulation.hosts().get(server).process();
        if (process == null) {
            simulation.eventCounters().count("requests that found no server");
            return;
        }
        simulation.scheduler().add(new Attempt(simulation, process, client, attempt, request, term, doubled));
    }

    /** Sends a reply. */
    void answer(@Nullable SimRouting client, int attempt, Request request, int server) {
        final SimNetworkLinks wire = simulation.wire();
        if (client == null) {
            return;
        }
        if (wire.isCut(server, wire.clients())) {
            simulation.eventCounters().count("replies lost on cut links");
            return;
        }
        simulation.scheduler().at(wire.arrivalNs(server, wire.clients()), () -> client.receive(attempt, request));
    }
}
