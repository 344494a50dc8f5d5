package org.rowankv.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;

/**
 * Who goes on next: clients, attempts that servers are at work on, servers' agents. Whoever stops at a point has others run
 * on top of its stack; those are not turned a second time.
 */
final class Turns {
    private static final int STUCK_AFTER_STEPS = 400_000;

    private final Simulation simulation;
    private final RandomSource order;
    private final List<SimClient> clients = new ArrayList<>();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final Deque<Task> stack = new ArrayDeque<>();
    private int depth;
    private long stepsSinceEnd;

    Turns(Simulation simulation, RandomSource order) {
        this.simulation = simulation;
        this.order = order;
    }

    List<SimClient> clients() {
        return clients;
    }

    void add(SimClient client) {
        clients.add(client);
    }

    void add(Delivery delivery) {
        deliveries.add(delivery);
    }

    void dropDeliveries() {
        deliveries.clear();
    }

    /** An attempt has come to its server: perhaps another of the same mutation is being worked on there. */
    void arrived(Delivery arrived) {
        for (Delivery delivery : deliveries) {
            if (delivery.isUnderWayWith(arrived)) {
                simulation.happenings().count("retries that met their original under way");
                return;
            }
        }
    }

    /** Nobody asks for anything, and nothing is on its way. */
    boolean isQuiet() {
        deliveries.removeIf(Delivery::isOver);
        return deliveries.isEmpty() && clients.stream().allMatch(SimClient::isIdle);
    }

    /** Something has come to its end: nothing is stuck. */
    void onProgress() {
        stepsSinceEnd = 0;
    }

    /** One step of one of those that can go on, or some time without any. */
    void step() {
        simulation.checkOn();
        final Task task = choose();
        simulation.timeline().advance(order.nextInt((int) (2 * simulation.plan().stepNs())));
        if (task == null) {
            return;
        }
        stack.addLast(task);
        task.onStack(true);
        try {
            task.step();
        } finally {
            task.onStack(false);
            stack.removeLast();
        }
        simulation.checkOn();
    }

    private @Nullable Task choose() {
        deliveries.removeIf(Delivery::isOver);
        final long now = simulation.timeline().nowNs();
        final List<SimScheduling.AgentTask> agents =
                simulation.store().scheduling().agents();
        Task chosen = null;
        int ready = 0;
        long earliest = Task.NEVER;
        final int count = clients.size() + deliveries.size() + agents.size();
        for (int i = 0; i < count; i++) {
            final Task task = task(i, agents);
            if (task.isOnStack()) {
                continue;
            }
            final long at = task.readyAtNs();
            earliest = Math.min(earliest, at);
            // Each of those that are ready with the same chance.
            if (at <= now && order.nextInt(++ready) == 0) {
                chosen = task;
            }
        }
        if (chosen == null) {
            simulation.timeline().advanceTo(earliest == Task.NEVER ? now + 1_000_000 : earliest);
        }
        if (++stepsSinceEnd > STUCK_AFTER_STEPS) {
            simulation.violation("nothing has come to an end for " + stepsSinceEnd + " steps; under way are "
                    + deliveries + "; the servers: "
                    + simulation.store().cluster().statistics() + "; they report "
                    + simulation.store().cluster().errors().distinct());
        }
        return chosen;
    }

    private Task task(int i, List<SimScheduling.AgentTask> agents) {
        if (i < clients.size()) {
            return clients.get(i);
        }
        final int rest = i - clients.size();
        return rest < deliveries.size() ? deliveries.get(rest) : agents.get(rest - deliveries.size());
    }

    /** Somebody waits in the middle of a call: everybody else goes on. */
    void park(long ns) {
        simulation.timeline().advance(ns);
        for (int i = 0; i < 4; i++) {
            step();
        }
    }

    /** Others go on for so many steps, on top of who has stopped. */
    void nest(int steps) {
        depth++;
        try {
            for (int i = 0; i < steps; i++) {
                step();
            }
        } finally {
            depth--;
        }
    }

    /** How many have stopped at points. */
    int depth() {
        return depth;
    }

    /** Who has the turn now, or null. */
    @Nullable
    Task current() {
        return stack.peekLast();
    }
}
