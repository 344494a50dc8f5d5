package org.rowankv.sim.cluster;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.embedded.SessionCatalogue;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.sim.ClockLeap;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.verbs.VerbsNetwork;
import org.rowankv.sim.workload.CacheLife;
import org.rowankv.sim.workload.WorkloadCaches;
import org.rowankv.topology.Configuration;

/** Injects the planned faults and configuration changes into a simulated cluster. */
final class ClusterFaults {
    private static final int MOST_ATTEMPTS = 100;
    private static final long DISTURBED_NS = 1_500_000_000;
    private static final long LOOK_AGAIN_NS = 10_000_000;
    private static final int LONGEST_AWAY_MS = 20_000;
    /**
     * Points where the servers have begun to depend on each other: too near to the end of a start to be hit by
     * counting.
     */
    private static final String[] LATE_IN_A_START = {
        "start.collected", "start.scattered", "start.term", "start.ready", "start.ready", "start.ready"
    };

    private final ClusterSimulation simulation;
    private final RandomSource random;
    private final PrimaryTransfer transfers;
    private @Nullable Fiber atCatalogue;
    private final ClusterDeviceFaults devices;
    private int atWork;
    /** No effect of a fault that has begun comes later. */
    private long disturbedUntilNs;
    /** It is about to lose its data, or has lost them, and the others do not go on without it yet. */
    private @Nullable SimHost losing;

    ClusterFaults(ClusterSimulation simulation, RandomSource random) {
        this.simulation = simulation;
        this.random = random;
        this.devices = new ClusterDeviceFaults(simulation, random.fork("devices"));
        this.transfers = new PrimaryTransfer(
                simulation.coordinator().seenBy(null, random.fork("store")),
                "operator",
                random.fork("stamps"),
                simulation.clientClock(),
                ns -> Fiber.required().rest(nowNs() + ns));
    }

    ClusterDeviceFaults devices() {
        return devices;
    }

    /** Whether a planned change is in progress. */
    boolean isAtWork() {
        final Fiber catalogue = atCatalogue;
        return atWork > 0 || catalogue != null && !catalogue.isOver();
    }

    private long nowNs() {
        return simulation.timeline().nowNs();
    }

    /** Log-uniform duration, up to about 5 s. */
    private long whileNs() {
        final long ns = 8L * random.nextInt(1 << 13 + random.nextInt(17));
        disturbedUntilNs = Math.max(disturbedUntilNs, nowNs() + 4 * ns + DISTURBED_NS);
        return ns;
    }

    /** Whether another fault must wait: with it data would be lost that no system can keep. */
    boolean mustWait() {
        return losing != null;
    }

    void strike(PlannedFault fault) {
        disturbedUntilNs = Math.max(disturbedUntilNs, nowNs() + DISTURBED_NS);
        final List<SimHost> hosts = simulation.hosts();
        final SimHost host = hosts.get(fault.a() % hosts.size());
        final SimHost other = hosts.get((fault.a() + 1 + fault.b() % (hosts.size() - 1)) % hosts.size());
        switch (fault.kind()) {
            case KILL -> simulation.killAndRestart(host, false);
            case KILL_IN_START -> killInStart(host);
            case KILL_TWO -> killTwo(host, other);
            case KILL_ALL -> hosts.forEach(each -> simulation.killAndRestart(each, false));
            case POWER_CUT -> simulation.killAndRestart(host, true);
            case POWER_CUT_OF_ALL -> hosts.forEach(each -> simulation.killAndRestart(each, true));
            case STOP -> stop(host);
            case PAUSE -> pause(host);
            case TRANSFER -> transfer(fault.b());
            case TRANSFER_TWICE -> {
                transfer(fault.b());
                simulation.scheduler().at(nowNs() + whileNs(), () -> {
                    if (!simulation.isCalm()) {
                        transfer(fault.a());
                    }
                });
            }
            case STORE_AWAY -> simulation.coordinator().away(nowNs() + whileNs());
            case STORE_FLAKY -> simulation.coordinator().flaky(nowNs() + 1_000_000_000 + whileNs());
            case CUT_ONE_WAY -> cut(host, other, false);
            case CUT_BOTH_WAYS -> cut(host, other, true);
            case SLOW -> simulation.wire().slow(host.number(), other.number(), nowNs() + whileNs());
            case BREAK -> breakConnections(host, true);
            case BREAK_SILENTLY -> breakConnections(host, false);
            case BREAK_LATE -> breakLate(host);
            case CATALOGUE -> catalogue(host, fault.b());
            case FORCE_FAILS -> devices.failForce(host, fault.b());
            case BIT_ROT -> devices.rot(host, fault.b());
            case CLOCK_LEAP -> ClockLeap.strike(simulation, host.clock(), fault.a() / hosts.size(), fault.b());
            case DISK_LOST -> loseDisk(host);
            case AWAY -> away(host);
            case STORE_SPLIT -> simulation.coordinator().awayFrom(host, nowNs() + 4 * whileNs());
            default -> throw new AssertionError("clusters have no fault " + fault.kind());
        }
    }

    /** When all replicas are complete and nothing else is wrong: until then, and until others go on without it. */
    private void loseDisk(SimHost host) {
        final Configuration stored = simulation.coordinator().configuration();
        final boolean isBare = stored == null
                || !stored.shardsLostWithout(Set.of(host.number())).isEmpty();
        if (isBare || simulation.clusterPlan().damagesDevices()) {
            simulation.killAndRestart(host, false);
            return;
        }
        losing = host;
        awaitQuiet(host);
    }

    private void awaitQuiet(SimHost host) {
        if (simulation.isCalm()) {
            disturbedUntilNs = nowNs(); // all faults have ended
        }
        if (simulation.isCalm()
                || nowNs() < disturbedUntilNs
                || isAtWork()
                || isAnyToCrash()
                || !simulation.isServed()) {
            simulation.scheduler().at(nowNs() + LOOK_AGAIN_NS, () -> awaitQuiet(host));
        } else {
            final long lost = simulation.served().incarnations().get(host.number());
            host.loseDisk();
            simulation.restart(host);
            awaitSpared(host, lost);
        }
    }

    private boolean isAnyToCrash() {
        return simulation.hosts().stream()
                .map(SimHost::process)
                .anyMatch(process -> process != null && process.isToCrash());
    }

    private void awaitSpared(SimHost host, long lost) {
        final Configuration stored = simulation.served();
        if (stored.incarnations().get(host.number()) == lost && stored.countsOn(host.number())) {
            simulation.scheduler().at(nowNs() + LOOK_AGAIN_NS, () -> awaitSpared(host, lost));
        } else {
            losing = null;
        }
    }

    /** Others may take over its replicas. */
    private void away(SimHost host) {
        host.kill(false);
        simulation.eventCounters().count("servers away for long");
        final long untilNs = nowNs() + random.nextInt(LONGEST_AWAY_MS) * 1_000_000L;
        disturbedUntilNs = Math.max(disturbedUntilNs, untilNs);
        simulation.scheduler().at(untilNs, host::start);
    }

    /** Kills it, and ends its next life, or that of another, while the servers start. */
    private void killInStart(SimHost host) {
        simulation.killAndRestart(host, false);
        final SimHost next =
                simulation.hosts().get(random.nextInt(simulation.hosts().size()));
        final boolean isNamed = random.nextInt(2) == 0;
        final String name = isNamed ? LATE_IN_A_START[random.nextInt(LATE_IN_A_START.length)] : "";
        final int points = isNamed ? 0 : random.nextInt(1 << random.nextInt(8));
        simulation.scheduler().at(nowNs() + random.nextInt(400_000_000), () -> {
            final SimProcess process = next.process();
            if (process != null) {
                process.crashIn(points, name);
            }
        });
    }

    private void killTwo(SimHost host, SimHost other) {
        simulation.killAndRestart(host, false);
        simulation.scheduler().at(nowNs() + random.nextInt(800_000_000), () -> {
            if (other.process() != null && host.process() != null) {
                simulation.eventCounters().count("servers killed while another was starting");
            }
            if (!simulation.isCalm()) {
                simulation.killAndRestart(other, false);
            }
        });
    }

    private void stop(SimHost host) {
        final SimProcess process = host.process();
        if (process != null) {
            process.stop();
            // If it hangs it is killed, as by a supervisor.
            awaitEnd(host, process, nowNs() + 5_000_000_000L);
        }
    }

    private void awaitEnd(SimHost host, SimProcess process, long untilNs) {
        simulation.scheduler().at(nowNs() + 20_000_000, () -> {
            if (host.process() == process && nowNs() < untilNs) {
                awaitEnd(host, process, untilNs);
            } else if (host.process() == process) {
                simulation.killAndRestart(host, false);
            } else {
                simulation.restart(host);
            }
        });
    }

    private void pause(SimHost host) {
        final SimProcess process = host.process();
        if (process != null) {
            process.pause(nowNs() + whileNs());
            simulation.eventCounters().count("servers paused");
        }
    }

    private void transfer(int drawn) {
        if (simulation.plan().replicas() < 2) {
            return;
        }
        atWork++;
        simulation.scheduler().add(new Fiber(simulation, null, "transfer", () -> {
            try {
                final var unused = transfers.transfer(drawn % simulation.plan().shards(), -1);
                simulation.eventCounters().count("planned transfers");
            } catch (ConfigurationStoreException | ClusterException e) {
                simulation.eventCounters().count("planned transfers that did not come about");
            } finally {
                atWork--;
            }
        }));
    }

    private void cut(SimHost host, SimHost other, boolean bothWays) {
        final long untilNs = nowNs() + whileNs();
        simulation.wire().cut(host.number(), other.number(), untilNs);
        if (bothWays) {
            simulation.wire().cut(other.number(), host.number(), untilNs);
        }
        if (random.nextInt(3) == 0) {
            simulation.wire().cut(simulation.wire().clients(), host.number(), untilNs);
        } else if (random.nextInt(3) == 0) {
            simulation.wire().cut(host.number(), simulation.wire().clients(), untilNs);
        }
    }

    private void breakConnections(SimHost host, boolean isNotified) {
        final int percent = 1 + random.nextInt(100);
        final String event = isNotified ? "connections broken" : "connections broken silently";
        final VerbsNetwork.Break how = isNotified ? VerbsNetwork.Break.NOTICED : VerbsNetwork.Break.SILENT;
        simulation.eventCounters().add(event, simulation.wire().verbs().breakConnections(host.number(), percent, how));
        for (SimChannel channel : List.copyOf(simulation.wire().connections())) {
            final SimChannel peer = channel.peer();
            if ((channel.process().host() == host
                            || peer != null && peer.process().host() == host)
                    && random.nextInt(100) < percent) {
                simulation.wire().breakDown(channel, isNotified);
                simulation.eventCounters().count(event);
            }
        }
    }

    /** Connections break at the next write of some size or more. */
    private void breakLate(SimHost host) {
        simulation
                .eventCounters()
                .add(
                        "connections that broke with bytes still to come",
                        simulation.wire().verbs().breakConnections(host.number(), 50, VerbsNetwork.Break.LATE));
        for (SimChannel channel : simulation.wire().connections()) {
            if (channel.process().host() == host) {
                channel.breakWith(1 + random.nextInt(1 << 4 + random.nextInt(8)));
            }
        }
    }

    /** Destroys a cache in use, and mostly creates it again at once. */
    private void catalogue(SimHost host, int drawn) {
        final WorkloadCaches caches = simulation.workload().caches();
        final int cache = drawn % caches.count();
        if (!caches.isDestroyable(cache)) {
            return;
        }
        changeCaches(host, catalogue -> {
            final CacheLife life = caches.live(cache);
            if (life != null) {
                caches.destroy(life, catalogue);
            }
            if (life == null || drawn % 4 > 0) {
                caches.create(cache, catalogue);
            }
        });
    }

    /** No more faults: completes every change of a cache, and creates missing caches. */
    void settleCaches() {
        final boolean[] isDone = {false};
        for (int i = 0; !isDone[0]; i++) {
            if (i == MOST_ATTEMPTS) {
                simulation.violation("the catalogue cannot be changed during a pause");
            }
            simulation.awaitServed(); // roles may end meanwhile, as when versions are exhausted
            changeCaches(simulation.hosts().get(i % simulation.hosts().size()), catalogue -> {
                simulation.workload().caches().settle(catalogue);
                isDone[0] = true;
            });
            while (isAtWork()) {
                simulation.scheduler().step();
            }
        }
    }

    private void changeCaches(SimHost host, Consumer<Catalogue> change) {
        final SimProcess process = host.process();
        final Fiber before = atCatalogue;
        if (process == null || before != null && !before.isOver()) {
            return;
        }
        final Fiber fiber = new Fiber(simulation, process, "catalogue", () -> {
            final SimProcess.Door door = process.door();
            if (door == null) {
                return;
            }
            try {
                change.accept(new SessionCatalogue(door.catalogue()));
            } catch (ConfigurationStoreException | IllegalStateException | RowanException e) {
                simulation.eventCounters().count("changes of the catalogue that failed");
                simulation.trace().tell("a change of the catalogue failed: " + e);
            }
        });
        atCatalogue = fiber;
        simulation.scheduler().add(fiber);
    }
}
