package org.rowankv.sim.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.PlannedFault.Kind;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.workload.WorkloadPlan;

/**
 * The plan of a cluster of processes.
 *
 * @param mutations that each worker has in progress
 * @param latencyNs maximum latency of a chunk of bytes
 * @param splitPercent writes that arrive in several chunks
 * @param storeNs maximum one-way latency of a request to the configuration store
 * @param forceNs maximum length of a force; 0: it ends as soon as it runs
 * @param heartbeatMs of an idle connection
 * @param leaseMs lease of the servers
 * @param thinkNs shortest pause of a client between two operations
 * @param doublings of a client's time-out of an attempt
 * @param attempts a client's operation ends after the time of so many attempts
 * @param fabric between the servers
 */
record ClusterPlan(
        SimPlan shared,
        int mutations,
        int latencyNs,
        int splitPercent,
        int storeNs,
        int forceNs,
        int heartbeatMs,
        int leaseMs,
        int thinkNs,
        int doublings,
        int attempts,
        FabricKind fabric) {
    /** Shared by all simulated clusters: servers authenticate with it as in production. */
    static final ClusterSecret SECRET = ClusterSecret.of("the simulation", "the secret of simulated clusters");

    static final int FIRST_PORT = 7000;
    private static final int SCRUBBED_MIB_PER_SECOND = 16;
    private static final int OPERATIONS = 500;
    private static final int NEAR_ENDS_IN = 4;
    private static final long STEPS_LEFT = 15;
    private static final int LONGEST_LIFETIME_MS = 1_000;
    private static final int MOST_DOUBLINGS = 3;
    private static final int OUTAGE_CLIENTS = 18;
    private static final int OUTAGE_KEYS = 90;
    /** Of outages: the means. */
    static final int STEP_NS = 2_000;

    static final int LATENCY_NS = 30_000;
    static final int STORE_NS = 2_000_000;
    private static final int THINK_NS = 4_000_000;

    private static final int SEGMENT = AreaSettings.MIN_SEGMENT_LENGTH;
    private static final int[][] SHAPES = {{3, 3}, {3, 2}, {2, 2}, {3, 3}, {2, 2}, {3, 2}, {4, 3}, {3, 1}};
    private static final int[] SHARDS_PER_SERVER = {1, 1, 2, 4};
    private static final int[] MESSAGES = {1024, 2048, 16 << 10};
    private static final int[] CHECKPOINTS_MS = {1, 5, 20, 100, 2, 5, 20, 0};
    private static final int[] FORCES_NS = {0, 100_000, 2_000_000};

    /** The kinds that are drawn together. This simulator concentrates on starts: some of them more often. */
    private static final List<Kind> USUAL = List.of(
            Kind.KILL,
            Kind.KILL_IN_START,
            Kind.KILL_TWO,
            Kind.KILL_ALL,
            Kind.POWER_CUT,
            Kind.POWER_CUT_OF_ALL,
            Kind.STOP,
            Kind.PAUSE,
            Kind.TRANSFER,
            Kind.TRANSFER_TWICE,
            Kind.STORE_AWAY,
            Kind.STORE_FLAKY,
            Kind.CUT_ONE_WAY,
            Kind.CUT_BOTH_WAYS,
            Kind.SLOW,
            Kind.BREAK,
            Kind.BREAK_SILENTLY,
            Kind.BREAK_LATE,
            Kind.CATALOGUE,
            Kind.KILL_IN_START,
            Kind.KILL_IN_START);

    private static final List<Kind> APART =
            List.of(Kind.FORCE_FAILS, Kind.BIT_ROT, Kind.CLOCK_LEAP, Kind.DISK_LOST, Kind.AWAY, Kind.STORE_SPLIT);

    /** The same seed has another plan on each fabric only as far as it must. */
    static ClusterPlan of(long seed, FabricKind fabric) {
        final RandomSource random = new SplittableRandomSource(seed).fork("cluster plan");
        final int[] shape = SHAPES[random.nextInt(SHAPES.length)];
        final int workers = 1 + random.nextInt(4);
        final int mutations = 1 + random.nextInt(4);
        final int size = random.nextInt(4);
        final int smallValue = size == 0 ? 200 : size == 1 ? 1_000 : 4_000;
        final boolean drawnPower = random.nextInt(2) == 0;
        final boolean power = drawnPower && fabric.leases() == 0;
        final int leased = shape[1] > 1 ? fabric.leases() * (shape[0] - 1) : 0;
        final SimPlan shared = new SimPlan(
                seed,
                shape[0],
                shape[1],
                shape[0] * SHARDS_PER_SERVER[random.nextInt(SHARDS_PER_SERVER.length)],
                workers,
                ServerSettings.minimumSegments(workers, mutations, shape[1] > 1, leased) + random.nextInt(8),
                MESSAGES[random.nextInt(MESSAGES.length)],
                2 + random.nextInt(6),
                4 + random.nextInt(13),
                OPERATIONS,
                smallValue,
                size == 3 ? 20_000 : 2 * smallValue,
                random.nextInt(3) == 0 ? 0 : random.nextInt(80),
                SimPlan.swarm(random, 100),
                SimPlan.swarm(random, 5),
                0,
                500L << random.nextInt(6),
                power,
                List.of());
        final ClusterPlan calm = new ClusterPlan(
                shared,
                mutations,
                5_000 << random.nextInt(7),
                random.nextInt(2) == 0 ? 0 : random.nextInt(60),
                200_000 << random.nextInt(6),
                power ? FORCES_NS[random.nextInt(FORCES_NS.length)] : 0,
                20 << random.nextInt(4),
                (int) ClusterSettings.DEFAULT_LEASE_MS,
                0,
                MOST_DOUBLINGS,
                20,
                fabric);
        return calm.with(shared.withFaults(faults(random, random.fork("devices"), power)));
    }

    private ClusterPlan with(SimPlan disturbed) {
        return new ClusterPlan(
                disturbed,
                mutations,
                latencyNs,
                splitPercent,
                storeNs,
                forceNs,
                heartbeatMs,
                leaseMs,
                thinkNs,
                doublings,
                attempts,
                fabric);
    }

    /**
     * For measurements of outages: two replicas, three shards of each server, and none of the drawn faults. What takes
     * time in it was measured on servers of two cores: a step some microseconds, a network's latency over loopback, and
     * a change in ZooKeeper with its force.
     *
     * @param servers 2 or 3
     */
    static ClusterPlan ofOutages(long seed, int servers, int leaseMs) {
        final int mutations = ClusterSettings.DEFAULT_MUTATIONS_PER_WORKER;
        final SimPlan shared = new SimPlan(
                seed,
                servers,
                2,
                3 * servers,
                2,
                ServerSettings.minimumSegments(2, mutations, true) + 200,
                16 << 10,
                OUTAGE_CLIENTS,
                OUTAGE_KEYS,
                Integer.MAX_VALUE,
                200,
                400,
                0,
                0,
                0,
                0,
                STEP_NS,
                false,
                List.of());
        return new ClusterPlan(
                shared,
                mutations,
                2 * LATENCY_NS,
                0,
                2 * STORE_NS,
                0,
                20,
                leaseMs,
                THINK_NS,
                0,
                10_000,
                FabricKind.TCP);
    }

    /** @param devices random source of device and clock faults: none in two seeds of five, and at most twice */
    private static List<PlannedFault> faults(RandomSource random, RandomSource devices, boolean power) {
        final List<PlannedFault> faults = new ArrayList<>();
        final int count = 3 + random.nextInt(8);
        for (int i = 0; i < count; i++) {
            final Kind drawn = USUAL.get(random.nextInt(USUAL.size()));
            final Kind kind = power
                    ? drawn
                    : switch (drawn) {
                        case POWER_CUT -> Kind.KILL;
                        case POWER_CUT_OF_ALL -> Kind.KILL_ALL;
                        default -> drawn;
                    };
            faults.add(PlannedFault.draw(random, OPERATIONS, () -> kind));
        }
        for (int i = devices.nextInt(5) < 2 ? 0 : 1 + devices.nextInt(2); i > 0; i--) {
            faults.add(PlannedFault.draw(devices, OPERATIONS, () -> APART.get(devices.nextInt(APART.size()))));
        }
        return PlannedFault.inOrder(faults);
    }

    /**
     * Start values of counters, for the first roles and for clients: new roles follow soon, and begin counters as
     * usual.
     */
    CounterStarts counters() {
        return shared.seed() % NEAR_ENDS_IN == 0 ? CounterStarts.nearEnds(STEPS_LEFT) : CounterStarts.USUAL;
    }

    WorkloadPlan workload() {
        final RandomSource random = new SplittableRandomSource(shared.seed()).fork("caches");
        return new WorkloadPlan(
                shared.keys(),
                WorkloadPlan.limits(random, shared.keys(), shared.smallValue(), false),
                random.nextInt(4) == 0 ? 20 : 100,
                random.nextInt(2) == 0 ? 0 : random.nextInt(200),
                random.nextInt(2) == 0,
                LONGEST_LIFETIME_MS);
    }

    /** Whether data may be damaged or unwritten on a device that is not lost. */
    boolean damagesDevices() {
        return shared.has(Kind.BIT_ROT) || shared.has(Kind.FORCE_FAILS);
    }

    /** Its traits for the choice of seeds. */
    List<String> traits() {
        final WorkloadPlan workload = workload();
        return shared.traits(List.of(
                shared.servers() + " servers, " + shared.replicas() + " replicas",
                shared.power() ? forceNs > 0 ? "slow device" : "device" : "no device",
                shared.seed() % NEAR_ENDS_IN == 0 ? "counters near their ends" : "counters as usual",
                shared.lossPerMille() > 0 ? "loss" : "no loss",
                shared.stallPerMyriad() > 0 ? "stalls" : "no stalls",
                workload.ttlPerMille() > 0 ? "lifetimes" : "no lifetimes",
                workload.touches() ? "touches" : "no touches",
                workload.caches().size() + " caches"));
    }

    ClusterSettings settings(SimHost host) {
        return ClusterSettings.of(with -> {
            with.cluster = "sim";
            with.name = host.name();
            with.dir = host.home().path();
            with.advertised = new HostAndPort("127.0.0.1", host.port());
            with.shape = new ClusterShape(
                    shared.servers(),
                    shared.replicas(),
                    shared.shards(),
                    SEGMENT,
                    shared.maxMessage(),
                    shared.power() ? Durability.POWER : Durability.PROCESS,
                    fabric);
            with.capacityBytes = (long) shared.segments() * SEGMENT;
            with.workers = shared.workers();
            with.mutationsPerWorker = mutations;
            with.verifyReads = true;
            with.scrubMibPerSecond = damagesDevices() ? SCRUBBED_MIB_PER_SECOND : 0;
            with.drainMs = drainMs();
            with.leaseMs = leaseMs;
            with.checkpointIntervalMs = CHECKPOINTS_MS[(int) (shared.seed() >>> 1 & CHECKPOINTS_MS.length - 1)];
            with.secret = SECRET;
        });
    }

    private long drainMs() {
        return 20 + (shared.seed() & 3) * 100;
    }

    int connectMs() {
        return 5 * heartbeatMs;
    }

    int retryMs() {
        return Math.max(1, heartbeatMs / 10);
    }
}
