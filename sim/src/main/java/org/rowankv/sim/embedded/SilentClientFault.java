package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A fault in which one client alone writes many keys, so that its entries are adjacent, and then goes silent. The other
 * clients remove these keys and do not touch them again until the process ends. One key per shard, because a session's
 * reply is kept until its next request.
 */
final class SilentClientFault implements Fault {
    private static final int LEAST_OPERATIONS = 50;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        final int count = simulation.plan().keys();
        final List<Integer> keys = new ArrayList<>();
        final Set<Integer> shards = new HashSet<>();
        for (int i = 0; i < count * 2 / 3; i++) {
            final int key = (i + b) % count;
            if (shards.add(simulation.workload().caches().shardOf(key))) {
                keys.add(key);
            }
        }
        simulation.bias().lastWords(a % simulation.plan().clients(), keys, LEAST_OPERATIONS + a / 2, b);
    }
}
