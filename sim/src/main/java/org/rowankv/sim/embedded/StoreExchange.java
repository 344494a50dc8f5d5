package org.rowankv.sim.embedded;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.Exchange;

/** A client's way to the servers of a store. */
final class StoreExchange extends Exchange {
    private static final int MOST_DOUBLINGS = 4;

    private final EmbeddedSimulation simulation;

    StoreExchange(EmbeddedSimulation simulation, RandomSource random) {
        super(simulation, random, 3_000_000 + 300 * simulation.plan().stepNs(), MOST_DOUBLINGS);
        this.simulation = simulation;
    }

    @Override
    protected void send(int number, Request next) {
        if (simulation.store().isUp()) { // otherwise there is no server to connect to
            final int server = simulation.store().serverOf(next.shard()).serverId();
            simulation.network().send(this, number, next, server, 0);
        }
    }
}
