package org.rowankv.sim.cluster;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.RandomSource;
import org.rowankv.sim.ClientNetwork;
import org.rowankv.sim.Exchange;

/** The network from clients to the servers' client ports. */
final class PortNetwork extends ClientNetwork {
    private final ClusterSimulation simulation;
    private int onTheWay;

    PortNetwork(ClusterSimulation simulation, RandomSource random) {
        super(simulation, random);
        this.simulation = simulation;
    }

    @Override
    protected boolean reaches(Exchange from, int server) {
        final SimNetworkLinks wire = simulation.wire();
        if (wire.isCut(wire.clients(), server)) {
            simulation.eventCounters().count("requests lost on cut links");
            return false;
        }
        return true;
    }

    @Override
    protected void deliver(Message message, boolean isLate) {
        final long laterNs =
                isLate ? random().nextInt(200 * simulation.clusterPlan().latencyNs()) : 0;
        final long atNs = simulation.wire().arrivalNs(simulation.wire().clients(), message.server()) + laterNs;
        onTheWay++;
        simulation.scheduler().at(atNs, () -> arrive(message));
    }

    /** Whether attempts are still in flight: one whose client has given up may still take effect. */
    boolean isCarrying() {
        return onTheWay > 0;
    }

    private void arrive(Message message) {
        onTheWay--;
        final SimProcess process = simulation.hosts().get(message.server()).process();
        if (process == null) {
            simulation.eventCounters().count("requests that found no server");
            return;
        }
        simulation.scheduler().add(new Attempt(simulation, process, message));
    }

    /** Sends a reply. */
    void answer(Message message, Request answered) {
        final SimNetworkLinks wire = simulation.wire();
        final Exchange awaiting = message.awaiting();
        if (awaiting == null) {
            return;
        }
        if (wire.isCut(message.server(), wire.clients())) {
            simulation.eventCounters().count("replies lost on cut links");
            return;
        }
        simulation
                .scheduler()
                .at(
                        wire.arrivalNs(message.server(), wire.clients()),
                        () -> awaiting.receive(message.attempt(), answered));
    }
}
