package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.SimClient;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.WorkloadCaches;

/** Injects the planned faults into an embedded store, between two steps. May throw the error of a crash. */
final class StoreFaults {
    private static final int MOST_AGAIN = 3;
    private static final int MOST_POINTS_BEHIND = 64;
    private static final int LEAST_OPERATIONS = 50;
    private static final int ALL_ONE_IN = 3;

    private static final List<String> TO_CRASH_BEHIND = List.of(
            "clean.before-free",
            "clean.before-free",
            "clean.copied",
            "commit.counted",
            "copy.read",
            "checkpoint.published",
            "request.before-reply");

    private static final String AFTER_PUBLISH = "local.after-publish";
    private static final List<String> OF_AN_APPEND = List.of(
            "local.after-name",
            "local.after-hazard",
            "local.after-reserve",
            "local.after-word",
            "local.mid-copy",
            "local.mid-copy",
            "local.mid-copy",
            "local.before-publish",
            AFTER_PUBLISH);

    private final EmbeddedSimulation simulation;
    private final StoreDeviceFaults devices;

    StoreFaults(EmbeddedSimulation simulation) {
        this.simulation = simulation;
        this.devices = new StoreDeviceFaults(simulation);
    }

    void strike(PlannedFault fault) {
        final int a = fault.a();
        final int b = fault.b();
        final int server = a % simulation.plan().servers();
        switch (fault.kind()) {
            case STOP -> simulation.reopen();
            case CRASH -> crash(a, b);
            case CRASH_BEHIND ->
                simulation
                        .points()
                        .crashBehind(TO_CRASH_BEHIND.get(b % TO_CRASH_BEHIND.size()), a % MOST_POINTS_BEHIND);
            case PAUSE -> pause(server, b);
            case FENCE -> fence(b % simulation.plan().servers(), server);
            case CUT_OFF -> cutOff(a, b);
            case SLOW -> slow(a, b);
            case CUT_ONE_WAY -> cut(a, b);
            case TRANSFER -> transfer(a, b);
            case LEAVE -> leave(a);
            case LAST_WORDS -> lastWords(a, b);
            case CATALOGUE -> catalogue(a, b);
            case DISK_LOST -> loseDisks(a, b);
            default -> devices.strike(fault);
        }
    }

    private void crash(int a, int b) {
        simulation.points().crashIn(a);
        simulation.points().crashStarts(b % 2 == 0 ? 0 : 1 + b / 2 % MOST_AGAIN);
    }

    private void pause(int server, int b) {
        simulation.eventCounters().count("servers paused");
        simulation
                .store()
                .scheduling()
                .servers()
                .get(server)
                .pause(simulation.plan().stepNs() * 20 * b);
    }

    private void fence(int from, int to) {
        final SimFabric fabric = simulation.store().fabric();
        if (to != from && fabric != null) {
            simulation.eventCounters().count("fences");
            fabric.fence(simulation.store().cluster().servers().get(to), from);
        }
    }

    private void cutOff(int a, int b) {
        if (simulation.plan().replicas() > 1) {
            simulation.points().cutOffAt(a % 4 == 0 ? AFTER_PUBLISH : OF_AN_APPEND.get(b % OF_AN_APPEND.size()));
        }
    }

    /** Requests and replies are late, appends stop at each of their steps. */
    private void slow(int a, int b) {
        final int nodes = simulation.plan().servers() + 1;
        simulation.eventCounters().count("links slowed down");
        simulation
                .store()
                .links()
                .slow(a % nodes, a / nodes % nodes, simulation.plan().stepNs() * (100 + 20L * b));
    }

    /**
     * Requests do not arrive, or replies do not. Or a server can neither finish nor begin an append at another, which
     * continues to write to it.
     */
    private void cut(int a, int b) {
        final SimLinks links = simulation.store().links();
        final int nodes = simulation.plan().servers() + 1;
        final int from = a % nodes;
        final int to = a / nodes % nodes;
        if (from == to) {
            return;
        }
        simulation.eventCounters().count("links cut in one direction");
        links.cut(from, to, simulation.plan().stepNs() * (100 + 4L * b));
        final SimFabric fabric = simulation.store().fabric();
        if (from != links.clients() && to != links.clients() && fabric != null) {
            fabric.fence(simulation.store().cluster().servers().get(to), from);
        }
    }

    private void transfer(int a, int b) {
        if (b % ALL_ONE_IN == 0) {
            simulation.store().transferAllOf(a % simulation.plan().servers());
        } else {
            simulation.store().transfer(a % simulation.plan().shards(), b);
        }
    }

    private void leave(int a) {
        final List<SimClient> clients = simulation.clients();
        for (int i = 0; i < clients.size(); i++) {
            final SimClient client = clients.get((a + i) % clients.size());
            if (client.isIdle()) {
                simulation.eventCounters().count("clients that left");
                leave(client);
                return;
            }
        }
    }

    private void leave(SimClient client) {
        try {
            client.leave(); // in a crash the sessions that it did not close remain
        } catch (RowanException e) {
            final boolean isMet = e.status() == Status.UNREACHABLE || e.status() == Status.OUTCOME_UNKNOWN;
            if (simulation.storePlan().deadlineMs() == 0 || !isMet) {
                simulation.stops().onRefusal(e);
            } else {
                simulation.eventCounters().count("clients that left without closing their sessions");
                client.vanish();
            }
        }
    }

    /** One key per shard, because a session's reply is kept until its next request. */
    private void lastWords(int a, int b) {
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

    /** Destroys a cache in use. It is created again at once, or in the next pause. */
    private void catalogue(int a, int b) {
        final WorkloadCaches caches = simulation.workload().caches();
        final int cache = a % caches.count();
        if (caches.isDestroyable(cache)) {
            final @Nullable CacheLife life = caches.live(cache);
            simulation.scheduler().take(new CatalogueChange(simulation, cache, life, life == null || b % 2 == 0));
        }
    }

    private void loseDisks(int a, int b) {
        final int servers = simulation.plan().servers();
        simulation.store().emptyAtNextStart(a % servers);
        if (b % 3 == 0) {
            simulation.store().emptyAtNextStart((a + 1) % servers);
        }
        if (a / servers % 2 == 0) {
            simulation.reopen();
        } else {
            simulation.points().crashIn(b);
        }
    }
}
