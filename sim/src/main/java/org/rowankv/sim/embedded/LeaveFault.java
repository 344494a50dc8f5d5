package org.rowankv.sim.embedded;

import java.util.List;
import org.rowankv.driver.api.RowanException;

/** A fault in which a client closes its sessions and leaves, and another one replaces it. */
final class LeaveFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final List<SimClient> clients = simulation.scheduler().clients();
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get((a + i) % clients.size());
            if (client.isIdle()) {
                simulation.eventCounters().count("clients that left");
                try {
                    client.leave(); // in a crash the sessions that it did not close remain
                } catch (RowanException e) {
                    simulation.stops().onRefusal(e);
                }
                return;
            }
        }
    }
}
