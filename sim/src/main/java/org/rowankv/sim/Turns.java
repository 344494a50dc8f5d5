package org.rowankv.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.sim.workload.CacheLife;

/**
 * Who goes on next: clients, attempts that servers are at work on, servers' agents. Whoever stops at a point has others run
 * on top of its stack; those are not turned a second time.
 */
final class Turns {
    private static final int DEEPEST = 4;
    private static final int STUCK_AFTER_STEPS = 400_000;
    /** What a server tries again after a second is not stuck. */
    private static final long STUCK_AFTER_NS = 2_000_000_000;

    private final Simulation simulation;
    private final RandomSource order;
    private final List<SimClient> clients = new ArrayList<>();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<ServiceTask> services = new ArrayList<>();
    private final Deque<Task> stack = new ArrayDeque<>();
    /** Of those that are stopped, the lowest first: the step by which each is to go on. */
    private final long[] until = new long[DEEPEST];

    private @Nullable Task[] ready = new @Nullable Task[16];
    private int readyCount;
    private long earliest;
    private int depth;
    /** Calls that wait, one in the pauses of another. */
    private int waiting;

    private long taken;
    private long stepsSinceEnd;
    private long endedAtNs;
    /** The cache whose destruction was looked at last, and in how many shards it had come to its end then. */
    private @Nullable CacheLife seen;

    private long seenDestroyed;

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

    void add(ServiceTask service) {
        services.add(service);
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
        endedAtNs = simulation.timeline().nowNs();
    }

    /** How long nothing has come to its end. */
    long stepsSinceEnd() {
        return stepsSinceEnd;
    }

    /** One step of a task that has its turn out of the order. */
    void take(Task task) {
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

    /** One step of one of those that can go on, or some time without any. */
    void step() {
        simulation.checkOn();
        taken++;
        final Task task = choose();
        simulation.timeline().advance(order.nextInt((int) (2 * simulation.plan().stepNs())));
        if (task == null) {
            return;
        }
        take(task);
        if (task instanceof Delivery delivery && delivery.isOver()) {
            deliveries.remove(delivery);
        }
    }

    private @Nullable Task choose() {
        readyCount = 0;
        earliest = Task.NEVER;
        final long now = simulation.timeline().nowNs();
        // One loop for each kind, since this is where most of a run's time goes: each asks one class alone.
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get(i);
            offer(client, client.readyAtNs(), now);
        }
        for (int i = 0; i < deliveries.size(); i++) {
            final Delivery delivery = deliveries.get(i);
            offer(delivery, delivery.readyAtNs(), now);
        }
        final List<SimScheduling.AgentTask> agents =
                simulation.store().scheduling().agents();
        for (int i = 0; i < agents.size(); i++) {
            final SimScheduling.AgentTask agent = agents.get(i);
            offer(agent, agent.readyAtNs(), now);
        }
        for (int i = 0; i < services.size(); i++) {
            final ServiceTask service = services.get(i);
            // Above one that is stopped it would wait for that one without end.
            if (!service.blocks() || mayWait()) {
                offer(service, service.readyAtNs(), now);
            }
        }
        if (++stepsSinceEnd > STUCK_AFTER_STEPS && now - endedAtNs > STUCK_AFTER_NS && !destroysOn()) {
            stuck();
        }
        if (readyCount == 0) {
            simulation.timeline().advanceTo(earliest == Task.NEVER ? now + 1_000_000 : earliest);
            return null;
        }
        // Each of those that are ready with the same chance.
        return ready[order.nextInt(readyCount)];
    }

    /**
     * Whether a task may wait in its turn: no task is stopped below, no call that is part of no task waits there, no cache is half
     * made, no judge is at work.
     */
    private boolean mayWait() {
        return stack.isEmpty()
                && waiting == 0
                && !simulation.isCalm()
                && !simulation.workload().caches().isChanging();
    }

    private void offer(Task task, long at, long now) {
        if (task.isOnStack()) {
            return;
        }
        if (at > now) {
            earliest = Math.min(earliest, at);
            return;
        }
        if (readyCount == ready.length) {
            ready = Arrays.copyOf(ready, 2 * readyCount);
        }
        ready[readyCount++] = task;
    }

    /** Destroying a cache in many shards takes long: each of them is something that has come to its end. */
    private boolean destroysOn() {
        final CacheLife life = simulation.workload().caches().destroying();
        if (life == null) {
            return false;
        }
        long destroyed = 0;
        for (int shard = 0; shard < simulation.plan().shards(); shard++) {
            final ShardReplica primary =
                    simulation.store().serverOf(shard).replicas().get(shard);
            destroyed += primary.clears().isDestroyed(life.id()) ? 1 : 0;
        }
        final boolean more = destroyed > (life.equals(seen) ? seenDestroyed : 0);
        seen = life;
        seenDestroyed = destroyed;
        if (more) {
            onProgress();
        }
        return more;
    }

    private void stuck() {
        simulation.violation("nothing has come to an end for " + stepsSinceEnd + " steps; under way are " + deliveries
                + "; the servers: " + simulation.store().cluster().statistics() + "; they report "
                + simulation.store().cluster().errors().distinct());
    }

    /** Somebody waits in the middle of a call: everybody else goes on. */
    void park(long ns) {
        simulation.timeline().advance(ns);
        waiting++;
        try {
            for (int i = 0; i < 4; i++) {
                step();
            }
        } finally {
            waiting--;
        }
        if (stack.size() == 1) {
            simulation.services().paused();
        }
    }

    /**
     * Others go on for about so many steps, on top of who has stopped. Steps that are taken on top of those others count
     * too, and who is due lets nobody new stop above: so it goes on, however often others stop.
     */
    void nest(int steps) {
        nest(steps, () -> false);
    }

    /** As above, or until something has happened. */
    void nest(int steps, BooleanSupplier happened) {
        until[depth++] = taken + steps;
        try {
            while (taken < until[depth - 1] && !happened.getAsBoolean()) {
                step();
            }
        } finally {
            depth--;
        }
    }

    /** Whether one more may stop here. */
    boolean mayStop() {
        for (int i = 0; i < depth; i++) {
            if (until[i] <= taken) {
                return false;
            }
        }
        return depth < DEEPEST;
    }

    /** Who has the turn now, or null. */
    @Nullable
    Task current() {
        return stack.peekLast();
    }
}
