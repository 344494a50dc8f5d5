package org.rowankv.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * A client writes most keys, alone, so that what it writes lies together, and is not heard of any more. Others remove them
 * and leave them alone until the process ends.
 */
final class LastWordsFault implements Fault {
    private static final int LEAST_OPERATIONS = 50;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        final int count = simulation.plan().keys();
        final List<Integer> keys = new ArrayList<>();
        for (int key = 0; key < count; key++) {
            if ((key + b) % count < count * 2 / 3) {
                keys.add(key);
            }
        }
        simulation.mood().lastWords(a % simulation.plan().clients(), keys, LEAST_OPERATIONS + a / 2, b);
    }
}
