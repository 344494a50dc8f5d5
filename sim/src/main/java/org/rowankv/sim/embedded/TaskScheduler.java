package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.sim.Exchange;
import org.rowankv.sim.ServiceTask;
import org.rowankv.sim.SimClient;
import org.rowankv.sim.StepScheduler;
import org.rowankv.sim.Task;
import org.rowankv.sim.workload.CacheLife;

/** The choice of the next task in an embedded store: clients, attempts executed by servers, servers' agents. */
final class TaskScheduler extends StepScheduler {
    private static final int STUCK_AFTER_STEPS = 400_000;
    /** A server's retry after a second does not count as stuck. */
    private static final long STUCK_AFTER_NS = 2_000_000_000;

    private final EmbeddedSimulation simulation;
    private final RandomSource order;
    private final List<Delivery> deliveries = new ArrayList<>();
    private final List<ServiceTask> services = new ArrayList<>();

    private @Nullable Task[] ready = new @Nullable Task[16];
    private int readyCount;
    private long earliest;
    /** Nested blocking calls, one in the parks of another. */
    private int waiting;

    /** The cache whose destruction was last seen, and in how many shards it had completed then. */
    private @Nullable CacheLife seen;

    private long seenDestroyed;
    /** Entries sent to joining servers when that was last looked at. */
    private long seenCopied;

    TaskScheduler(EmbeddedSimulation simulation, RandomSource order) {
        super(simulation);
        this.simulation = simulation;
        this.order = order;
    }

    @Override
    public void add(Task task) {
        if (task instanceof Delivery delivery) {
            deliveries.add(delivery);
        } else if (task instanceof ServiceTask service) {
            services.add(service);
        } else if (!(task instanceof SimClient)) { // the run has these
            throw new AssertionError(task + " is not scheduled");
        }
    }

    /** Attempts of a client that are under way at a server. */
    int unanswered(Exchange exchange, int server) {
        int count = 0;
        for (int i = 0; i < deliveries.size(); i++) {
            count += deliveries.get(i).isOf(exchange, server) ? 1 : 0;
        }
        return count;
    }

    void dropDeliveries() {
        deliveries.clear();
    }

    /** An attempt has arrived at its server: another one of the same mutation may be in progress there. */
    void arrived(Delivery arrived) {
        for (Delivery delivery : deliveries) {
            if (delivery.isUnderWayWith(arrived)) {
                simulation.eventCounters().count("retries that met their original under way");
                return;
            }
        }
    }

    /** No client has an operation in progress, and no message is in flight. */
    boolean isQuiet() {
        deliveries.removeIf(Delivery::isOver);
        return deliveries.isEmpty() && simulation.clients().stream().allMatch(SimClient::isIdle);
    }

    /** Runs one step of a task, out of order. */
    void take(Task task) {
        runOnTop(task);
        simulation.checkOn();
    }

    @Override
    protected void takeNext() {
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
        // One loop for each kind, since most of a run's time is spent here: each calls one class alone.
        final List<SimClient> clients = simulation.clients();
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get(i);
            offer(client, client.readyAtNs(), now);
        }
        for (int i = 0; i < deliveries.size(); i++) {
            final Delivery delivery = deliveries.get(i);
            offer(delivery, delivery.readyAtNs(), now);
        }
        final List<ServerAgent> agents = simulation.store().scheduling().agents();
        for (int i = 0; i < agents.size(); i++) {
            final ServerAgent agent = agents.get(i);
            offer(agent, agent.readyAtNs(), now);
        }
        for (int i = 0; i < services.size(); i++) {
            final ServiceTask service = services.get(i);
            // On top of a stopped task it would wait for that task for ever.
            if (!service.blocks() || mayWait()) {
                offer(service, service.readyAtNs(), now);
            }
        }
        if (isStuck(STUCK_AFTER_STEPS, STUCK_AFTER_NS) && !destroysOn() && !copiesOn() && !lingers()) {
            stuck();
        }
        if (readyCount == 0) {
            simulation.timeline().advanceTo(earliest == Task.NEVER ? now + 1_000_000 : earliest);
            return null;
        }
        // Each ready task has the same chance.
        return ready[order.nextInt(readyCount)];
    }

    /**
     * Whether a task may block in its step: no task is stopped below, no call outside of tasks waits there, no cache is
     * half created, no checker runs.
     */
    private boolean mayWait() {
        return stack().isEmpty()
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

    /** Destroying a cache in many shards takes long: each completed shard counts as progress. */
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

    /** With a bounded rate and callers that stall, a copy to a server that lost its data outlasts all operations. */
    private boolean copiesOn() {
        long copied = 0;
        for (Server server : simulation.store().cluster().servers()) {
            copied += server.copies().entries();
        }
        final boolean more = copied != seenCopied;
        seenCopied = copied;
        if (more) {
            onProgress();
        }
        return more;
    }

    /** A store that has stopped itself runs on for a drawn number of steps: without requests, nothing can complete. */
    private boolean lingers() {
        return simulation.stops().lingers() && isQuiet();
    }

    private void stuck() {
        simulation.violation("nothing has come to an end for " + stepsSinceEnd() + " steps; under way are " + deliveries
                + "; the servers: " + simulation.store().cluster().statistics() + "; they open "
                + simulation.store().openings() + "; they report "
                + simulation.store().cluster().errors().distinct());
    }

    @Override
    public void park(long ns) {
        simulation.timeline().advance(ns);
        waiting++;
        try {
            for (int i = 0; i < 4; i++) {
                step();
            }
        } finally {
            waiting--;
        }
        if (stack().size() == 1) {
            simulation.services().paused();
        }
    }
}
