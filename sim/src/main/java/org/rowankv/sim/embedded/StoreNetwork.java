package org.rowankv.sim.embedded;

import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.ClientNetwork;
import org.rowankv.sim.Exchange;

/** The network from clients to the servers of a store. */
final class StoreNetwork extends ClientNetwork {
    private static final int TRAVEL_NS = 20_000;
    private static final int LATE_NS = 20_000_000;
    /** Attempts of one client that a server has not answered: their connection has no room for more. */
    private static final int MOST_UNANSWERED = 32;

    private final EmbeddedSimulation simulation;

    StoreNetwork(EmbeddedSimulation simulation, RandomSource random) {
        super(simulation, random);
        this.simulation = simulation;
    }

    @Override
    protected boolean reaches(Exchange from, int server) {
        final SimLinks links = simulation.store().links();
        if (links.isCut(links.clients(), server)) {
            simulation.eventCounters().count("requests lost on cut links");
            return false;
        }
        if (simulation.scheduler().unanswered(from, server) >= MOST_UNANSWERED) {
            simulation.eventCounters().count("requests for which a connection had no room");
            return false;
        }
        return true;
    }

    @Override
    protected boolean isSlow(int server) {
        final SimLinks links = simulation.store().links();
        return links.isSlow(links.clients(), server);
    }

    @Override
    protected void deliver(Message message, boolean isLate) {
        final long atNs = simulation.timeline().nowNs() + random().nextInt(isLate ? LATE_NS : TRAVEL_NS);
        simulation.scheduler().add(new Delivery(simulation, message, atNs));
    }
}
