package org.rowankv.sim;

import java.util.List;
import org.rowankv.driver.api.RowanException;

/** A client goes away, closing its sessions, and another one comes. */
final class LeaveFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final List<SimClient> clients = simulation.turns().clients();
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get((a + i) % clients.size());
            if (client.isIdle()) {
                simulation.happenings().count("clients that left");
                try {
                    client.leave(); // in a crash the sessions it did not close stay
                } catch (RowanException e) {
                    simulation.stops().onRefusal(e);
                }
                return;
            }
        }
    }
}
