package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.sim.LossError;
import org.rowankv.sim.NodeClock;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.SeedRun;
import org.rowankv.sim.SeedWorkloadHost;
import org.rowankv.sim.SimClient;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.SimThread;
import org.rowankv.sim.Trace;
import org.rowankv.sim.ViolationError;
import org.rowankv.sim.workload.Workload;
import org.rowankv.sim.workload.WorkloadBias;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * The run of one seed with a cluster of server processes: each runs the production code from its start to its end, and
 * ends, restarts and changes roles at any time. Owned by one {@link SimThread}.
 */
final class ClusterSimulation extends SeedRun {
    private static final int WINDOW = 150;
    /** Longer than a lease. */
    private static final long SETTLED_NS = 500_000_000;

    private final ClusterPlan clusterPlan;
    private final @Nullable SimOutage outage;
    private final RandomSource clientRandom;
    private final RandomSource restarts;
    private final ClusterScheduler scheduler;
    private final ClusterPoints points;
    private final SimNetworkLinks wire;
    private final PortNetwork network;
    private final SimCoordinator coordinator;
    private final RoleChecker roles;
    private final List<SimHost> hosts = new ArrayList<>();
    private final Workload workload;
    private final ClusterChecker checker;
    private final ClusterFaults faults;
    private final ClusterServices services;
    private final Clock clientClock;
    private List<Integer> primaries = List.of();

    private long examinedTerm;
    private boolean whole;
    private boolean healing;
    private boolean over;

    ClusterSimulation(ClusterPlan clusterPlan, MemoryPool pool, @Nullable Consumer<String> reader) {
        this(clusterPlan, pool, reader, null);
    }

    /** @param outage measured instead of the plan's faults */
    ClusterSimulation(
            ClusterPlan clusterPlan, MemoryPool pool, @Nullable Consumer<String> reader, @Nullable SimOutage outage) {
        super(clusterPlan.shared(), reader);
        final SimPlan plan = clusterPlan.shared();
        this.clusterPlan = clusterPlan;
        this.outage = outage;
        final RandomSource random = new SplittableRandomSource(plan.seed()).fork("cluster");
        this.scheduler = new ClusterScheduler(this, random.fork("turns"));
        this.points = new ClusterPoints(this, random.fork("points"));
        this.restarts = random.fork("restarts");
        this.wire = new SimNetworkLinks(this, random.fork("wire"));
        this.network = new PortNetwork(this, random.fork("network"));
        this.coordinator = new SimCoordinator(this, clusterPlan.storeNs());
        this.roles = new RoleChecker(this);
        this.clientRandom = random.fork("clients");
        this.workload = new Workload(
                clusterPlan.workload(), plan.clients(), plan.values(), new SeedWorkloadHost(this, Status.STALE_TERM));
        this.checker = new ClusterChecker(this);
        this.services = new ClusterServices(this, random.fork("streams"), workload.streamLog());
        final RandomSource clocks = random.fork("clocks");
        for (int number = 0; number < plan.servers(); number++) {
            hosts.add(new SimHost(this, number, pool, random.fork("host " + number), clock(clocks)));
        }
        this.clientClock = clock(clocks);
        this.faults = new ClusterFaults(this, random.fork("faults"));
    }

    private NodeClock clock(RandomSource random) {
        return new NodeClock(
                timeline(), random.nextInt(401) - 200, random.nextLong() >>> 8, random.nextInt(2000) - 1000);
    }

    // --- the run ---

    /** Runs to the end or to the first violation. */
    SeedReport run() {
        SimThread.current().tells(points::onPoint);
        try {
            hosts.forEach(SimHost::start);
            awaitServed();
            faults.settleCaches();
            for (int i = 0; i < plan().clients(); i++) {
                add(client(i, clientRandom.fork("client " + i)));
            }
            services.begin();
            calm(false);
            accept(true);
            if (outage == null) {
                disturb();
            } else {
                outage.measure(this);
            }
            restAndCheck();
            finish();
        } catch (ViolationError e) {
            note(String.valueOf(e.getMessage()));
        } catch (LossError e) {
            // Counted where it was thrown.
        } catch (RuntimeException | Error e) {
            note("the simulation failed: " + Trace.describe(e));
        } finally {
            over = true;
            try {
                scheduler.endAll();
            } finally {
                hosts.forEach(SimHost::leave);
                SimThread.current().tells(null);
            }
        }
        eventCounters().add("steps", scheduler.taken());
        eventCounters().add("simulated milliseconds", timeline().nowNs() / 1_000_000);
        return report();
    }

    private SimClient client(int number, RandomSource random) {
        final SimRouting routing = new SimRouting(this, random.fork("routing"), served());
        return new SimClient(
                number,
                this,
                routing,
                random.fork("questions"),
                outage == null ? WorkloadBias.NONE : SimOutage.biasOf(number, this),
                before -> new RowanClient(
                        routing,
                        clientClock,
                        random.fork("client " + before),
                        clusterPlan.attempts() * routing.attemptNs(),
                        clusterPlan.counters()),
                () -> clusterPlan.thinkNs() + random.nextInt(100_000 + (int) (20 * plan().stepNs())));
    }

    private void disturb() {
        while (!isBegun()) {
            applyFaults();
            scheduler.step();
            if (begunInWindow() >= WINDOW) {
                restAndCheck();
            }
        }
    }

    /** Irreparable damage ends the run, even where an agent's duty cycle reports the error and continues. */
    void endOverDamage(String what) {
        endWithLoss(what);
    }

    @Override
    public void loss(boolean isWrong, String what) {
        deviceFaults().requireNoLoss(isWrong, what);
    }

    @Override
    public void requireRotten(String what) {
        deviceFaults().requireRotten(what);
    }

    @Override
    protected void onLoss(String what) {
        eventCounters().count("clusters that ended over damage which nothing mends");
        trace().tell(what);
    }

    private void applyFaults() {
        PlannedFault fault = faults.mustWait() ? null : takeFault();
        while (fault != null) {
            faults.strike(fault);
            fault = faults.mustWait() ? null : takeFault();
        }
    }

    /** Ends it now, and restarts it after a while. */
    void killAndRestart(SimHost host, boolean isPowerCut) {
        host.kill(isPowerCut);
        restart(host);
    }

    /** Restarts it after a while; soon if the cluster is to pause. */
    void restart(SimHost host) {
        final long afterNs = healing ? 1_000_000 : restarts.nextInt(300_000_000);
        scheduler.at(timeline().nowNs() + afterNs, host::start);
    }

    // --- pauses ---

    /** Pauses all tasks; then runs the checkers. */
    private void restAndCheck() {
        beginWindow();
        accept(false);
        quiesce();
        services.rest();
        checker.checkWindow();
        scheduler.onProgress();
        healing = false;
        calm(false);
        accept(true);
    }

    private void quiesce() {
        while (!clients().stream().allMatch(SimClient::isIdle)) {
            scheduler.step();
        }
        calm(true);
        healing = true;
        scheduler.onProgress();
        wire.heal();
        coordinator.heal();
        faults.devices().heal();
        for (SimHost host : hosts) {
            final SimProcess process = host.process();
            if (process != null) {
                process.pause(0);
            }
            restart(host);
        }
        while (faults.isAtWork() || coordinator.hasLateChanges() || network.isCarrying() || scheduler.hasAttempts()) {
            scheduler.step();
        }
        faults.settleCaches();
        awaitServed();
        scheduler.onProgress();
    }

    /** Also until nothing more is found out about faults of before. */
    void awaitServed() {
        long sinceNs = timeline().nowNs();
        for (boolean served = isServed(); !served || timeline().nowNs() - sinceNs < SETTLED_NS; served = isServed()) {
            if (!served) {
                sinceNs = timeline().nowNs();
            }
            scheduler.step();
        }
    }

    /** Whether every server serves, in the stored term and with a lease, and every replica is complete. */
    boolean isServed() {
        final Configuration stored = coordinator.configuration();
        if (stored == null || !isWhole(stored)) {
            return false;
        }
        for (SimHost host : hosts) {
            final SimProcess process = host.process();
            final SimProcess.Door door = process == null ? null : process.door();
            if (process == null
                    || door == null
                    || process.isStopping()
                    || door.configuration().term() != stored.term()
                    || !door.server().requests().mayAnswer()) {
                return false;
            }
        }
        return true;
    }

    /** Computed once for each term: each step of a wait asks. */
    private boolean isWhole(Configuration stored) {
        if (stored.term() != examinedTerm) {
            examinedTerm = stored.term();
            whole = stored.excluded().isEmpty()
                    && stored.shards().stream()
                            .allMatch(shard -> shard.joining().isEmpty() && shard.replicaCount() == plan().replicas());
        }
        return whole;
    }

    /** The configuration in which all serve. */
    Configuration served() {
        final Configuration stored = coordinator.configuration();
        if (stored == null) {
            throw new AssertionError("nothing is stored");
        }
        return stored;
    }

    private void finish() {
        accept(false);
        dropFaults();
        quiesce();
        checker.checkWindow();
        checker.checkSpace();
        final long term = served().term();
        stopAndStart();
        if (served().term() <= term) {
            violation("term " + served().term() + " follows term " + term);
        }
        checker.checkWindow();
        checker.checkSpace();
    }

    /** Stops all servers cleanly, one by one, and starts them again. */
    private void stopAndStart() {
        for (SimHost host : hosts) {
            final SimProcess process = host.process();
            if (process != null) {
                process.stop();
                while (host.process() == process) {
                    scheduler.step();
                }
            }
        }
        scheduler.onProgress();
        hosts.forEach(SimHost::start);
        awaitServed();
        scheduler.onProgress();
    }

    // --- requests of others ---

    @Override
    public void onEnded(Request request) {
        super.onEnded(request);
        if (outage != null) {
            outage.completed(request, timeline().nowNs());
        }
    }

    /** Other primaries use other clocks for lifetimes: they end sooner or later by the difference. */
    void serves(Configuration configuration) {
        final List<Integer> now =
                configuration.shards().stream().map(ShardAssignment::primary).toList();
        if (!primaries.isEmpty() && !primaries.equals(now)) {
            eventCounters().count("primaries moved");
            final List<Long> walls =
                    hosts.stream().map(host -> host.clock().wallMs()).toList();
            final long apartMs = Collections.max(walls) - Collections.min(walls) + 1;
            workload.lifetimes().jumped(timeline().nowNs(), apartMs);
            workload.lifetimes().jumped(timeline().nowNs(), -apartMs);
        }
        primaries = now;
    }

    /** Human-readable state of all tasks. */
    String state() {
        final StringBuilder text = new StringBuilder();
        for (SimHost host : hosts) {
            final SimProcess process = host.process();
            text.append(process == null ? host + " is down" : process.state()).append("; ");
        }
        return text.append(scheduler.describe()).toString();
    }

    @Override
    public boolean isOver() {
        return over;
    }

    ClusterDeviceFaults deviceFaults() {
        return faults.devices();
    }

    /** The plan of a cluster. */
    ClusterPlan clusterPlan() {
        return clusterPlan;
    }

    @Override
    public Configuration configuration() {
        return served();
    }

    @Override
    public ClusterScheduler scheduler() {
        return scheduler;
    }

    ClusterPoints points() {
        return points;
    }

    SimNetworkLinks wire() {
        return wire;
    }

    PortNetwork network() {
        return network;
    }

    SimCoordinator coordinator() {
        return coordinator;
    }

    RoleChecker roles() {
        return roles;
    }

    @Override
    public ClusterServices services() {
        return services;
    }

    @Override
    public Workload workload() {
        return workload;
    }

    List<SimHost> hosts() {
        return hosts;
    }

    Clock clientClock() {
        return clientClock;
    }
}
