package org.rowankv.sim.embedded;

import org.rowankv.sim.RareFirst;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.sim.workload.WorkloadPlan;

/**
 * The plan derived from a seed: the store, its clients, and the faults. Each seed leaves some disturbances out and
 * exaggerates others: much of one kind finds what a little of everything hides.
 *
 * @param clients each with at most one operation in progress
 * @param smallValue exclusive upper bound of most values' lengths
 * @param largeValue length of the other values
 * @param lossPerMille attempts with a lost, duplicated or late message
 * @param yieldPerMyriad points at which other tasks run for a moment
 * @param stallPerMyriad points at which other tasks run for a long time
 * @param deathPerMyriad points at which a caller's thread dies
 * @param stepNs approximate length of a step
 * @param ttlPerMille writes of values with a lifetime
 * @param ballastPercent of the space that is used in advance
 * @param clientsSurvive whether clients return after a crash for their missing replies
 * @param power whether the areas have a device that is forced before any acknowledgement; crashes are power cuts, too
 * @param hostile whether settings and the servers' process values are at their limits
 */
record SimPlan(
        long seed,
        int servers,
        int replicas,
        int shards,
        int workers,
        int segments,
        int maxMessage,
        int clients,
        int keys,
        int operations,
        int smallValue,
        int largeValue,
        int lossPerMille,
        int yieldPerMyriad,
        int stallPerMyriad,
        int deathPerMyriad,
        long stepNs,
        int ttlPerMille,
        int ballastPercent,
        boolean clientsSurvive,
        boolean power,
        boolean hostile,
        List<PlannedFault> faults) {
    static final int OPERATIONS = 2_000;
    private static final int SEGMENT = AreaSettings.MIN_SEGMENT_LENGTH;
    private static final int[][] SHAPES = {{3, 3}, {3, 3}, {3, 2}, {2, 2}, {2, 2}, {1, 1}};
    private static final int[] SHARDS_PER_SERVER = {1, 1, 2, 8};
    private static final int LEAST_MESSAGE = 256;
    private static final int MOST_SHARDS_WITH_LEASES = 64;
    /** More of them, or the minimum with every server a primary. */
    private static final int[] HOSTILE_SHARDS = {3, 64, 512};

    private static final long STEPS_LEFT = 60;
    private static final long DEADLINE_MS = 20;
    /** Multiplied by a step's nanoseconds: an area is scrubbed a few times in a run. */
    private static final long SCRUBBED_MIB = 32_000;

    private static final int QUIET_ONE_IN = 8;
    private static final int QUIET_SHARDS = 64;

    private static final int[] FORCE_STEPS = {0, 20, 200, 2_000};
    private static final int[] CHECKPOINTS_MS = {1, 5, 2, 25, 1, 5, 2, 0};
    private static final int[] MESSAGES = {1024, 2048, 16 << 10};

    static SimPlan of(long seed) {
        final RandomSource random = new SplittableRandomSource(seed).fork("plan");
        final boolean hostile = random.nextInt(10) == 0;
        final RandomSource extremes = random.fork("extremes");
        final boolean single = hostile && extremes.nextInt(4) == 0;
        final int[] shape = single ? SHAPES[SHAPES.length - 1] : SHAPES[random.nextInt(SHAPES.length)];
        final int workers = hostile && extremes.nextInt(2) == 0 ? 1 : 1 + random.nextInt(4);
        final int least = (int) (EmbeddedSettings.minimumCapacity(shape[1], workers, SEGMENT) / SEGMENT);
        // Sometimes values large enough to fill the store, but mostly much smaller ones.
        final int size = random.nextInt(4);
        final int smallValue = size == 0 ? 200 : size == 1 ? 2_000 : 6_000;
        final int largeValue = size == 3 ? 20_000 : 2 * smallValue;
        final SimPlan plan = new SimPlan(
                seed,
                shape[0],
                shape[1],
                single
                        ? 1
                        : hostile
                                ? HOSTILE_SHARDS[extremes.nextInt(HOSTILE_SHARDS.length)]
                                : shape[0] * SHARDS_PER_SERVER[random.nextInt(SHARDS_PER_SERVER.length)],
                workers,
                hostile ? least : least + random.nextInt(8),
                hostile ? LEAST_MESSAGE : MESSAGES[random.nextInt(MESSAGES.length)],
                2 + random.nextInt(7),
                4 + random.nextInt(17),
                OPERATIONS,
                smallValue,
                largeValue,
                random.nextInt(3) == 0 ? 0 : random.nextInt(120),
                swarm(random, 100),
                swarm(random, 5),
                swarm(random, 2),
                1_000L << random.nextInt(8),
                random.nextInt(2) == 0 ? 0 : random.nextInt(200),
                random.nextInt(hostile ? 2 : 4) > 0 ? 0 : 70 + random.nextInt(31),
                random.nextInt(3) > 0,
                random.fork("power").nextInt(2) == 0,
                hostile,
                faults(random, random.fork("devices"), random.fork("transfers")));
        final RandomSource quiet = random.fork("last words");
        return !hostile && quiet.nextInt(QUIET_ONE_IN) == 0 ? plan.quiet(quiet) : plan;
    }

    /**
     * The same with clients that go silent, in a store that depends on what they wrote: it is in separate segments,
     * each key in its own shard, so that all replies are kept. Segments are few, so that the others are soon reused,
     * and removals are soon forgotten.
     */
    private SimPlan quiet(RandomSource random) {
        final boolean single = random.nextInt(3) > 0;
        final int newServers = single ? 1 : servers;
        final int newReplicas = single ? 1 : replicas;
        final List<PlannedFault> silences = new ArrayList<>();
        for (int after = 100; after < OPERATIONS; after += 600) {
            silences.add(
                    new PlannedFault(after, PlannedFault.Kind.LAST_WORDS, random.nextInt(1000), random.nextInt(1000)));
        }
        return new SimPlan(
                seed,
                newServers,
                newReplicas,
                QUIET_SHARDS,
                workers,
                (int) (EmbeddedSettings.minimumCapacity(newReplicas, workers, SEGMENT) / SEGMENT) + random.nextInt(2),
                maxMessage,
                clients,
                20 - random.nextInt(4),
                operations,
                6_000,
                20_000,
                lossPerMille,
                yieldPerMyriad,
                stallPerMyriad,
                deathPerMyriad,
                stepNs,
                ttlPerMille,
                20 + random.nextInt(50),
                clientsSurvive,
                power,
                false,
                List.copyOf(silences));
    }

    private static int swarm(RandomSource random, int usual) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> usual / 3 + 1;
            case 2 -> usual;
            default -> 4 * usual;
        };
    }

    /**
     * @param devices random source of device faults: none in two seeds of five, and at most three times
     * @param transfers likewise of transfers: none in one seed of two, and at most six
     */
    private static List<PlannedFault> faults(RandomSource random, RandomSource devices, RandomSource transfers) {
        final List<PlannedFault> faults = new ArrayList<>();
        final int count = 4 + random.nextInt(7);
        for (int i = 0; i < count; i++) {
            // Crashes exercise most of the code.
            final PlannedFault.Kind kind =
                    i == 0 || random.nextInt(4) == 0 ? PlannedFault.Kind.CRASH : PlannedFault.usual(random);
            faults.add(new PlannedFault(
                    1 + random.nextInt(OPERATIONS - 1), kind, random.nextInt(1000), random.nextInt(1000)));
        }
        for (int i = devices.nextInt(5) < 2 ? 0 : 1 + devices.nextInt(3); i > 0; i--) {
            faults.add(new PlannedFault(
                    1 + devices.nextInt(OPERATIONS - 1),
                    PlannedFault.ofDevice(devices),
                    devices.nextInt(1000),
                    devices.nextInt(1000)));
        }
        for (int i = transfers.nextInt(2) == 0 ? 0 : 1 + transfers.nextInt(6); i > 0; i--) {
            faults.add(new PlannedFault(
                    1 + transfers.nextInt(OPERATIONS - 1),
                    PlannedFault.Kind.TRANSFER,
                    transfers.nextInt(1000),
                    transfers.nextInt(1000)));
        }
        faults.sort(Comparator.comparingInt(PlannedFault::afterOperations));
        return List.copyOf(faults);
    }

    EmbeddedSettings settings() {
        return EmbeddedSettings.of(
                builder().andThen(with -> with.durability = power ? Durability.POWER : Durability.NONE));
    }

    /** Settings of a copy of the store in a directory. */
    EmbeddedSettings settingsOfCopy(Path directory) {
        return EmbeddedSettings.of(builder().andThen(with -> {
            with.dir = directory;
            with.durability = Durability.PROCESS;
        }));
    }

    /** How long a call waits for its reply; 0 if this seed has no blocking caller. */
    long deadlineMs() {
        return new SplittableRandomSource(seed).fork("callers that wait").nextInt(4) == 0 ? DEADLINE_MS : 0;
    }

    private Consumer<EmbeddedSettings.Builder> builder() {
        return with -> {
            with.scrubMibPerSecond = (int) Math.max(1, SCRUBBED_MIB / stepNs);
            with.servers = servers;
            with.replicas = replicas;
            with.shards = shards;
            with.workers = workers;
            with.segmentBytes = SEGMENT;
            with.capacityBytes = (long) segments * SEGMENT;
            with.maxMessage = maxMessage;
            with.verifyReads = true;
            with.checkpointIntervalMs = CHECKPOINTS_MS[(int) (seed >>> 1 & CHECKPOINTS_MS.length - 1)];
        };
    }

    /** Maximum number of steps of a force, by the device of a seed; 0: it ends as soon as it runs. */
    int forceSteps() {
        return FORCE_STEPS[new SplittableRandomSource(seed).fork("device").nextInt(FORCE_STEPS.length)];
    }

    /** How long a session is kept without requests; 0: for ever, as where silent clients return for replies. */
    long leaseNs() {
        final RandomSource random = new SplittableRandomSource(seed).fork("leases");
        final boolean silent = faults.stream().anyMatch(fault -> fault.kind() == PlannedFault.Kind.LAST_WORDS);
        return silent || shards > MOST_SHARDS_WITH_LEASES || random.nextInt(3) == 0
                ? 0
                : 10_000_000 + 1_000 * stepNs << random.nextInt(3);
    }

    /** Whether lifetimes are changed by touches; without them, an end is known to the millisecond. */
    boolean touches() {
        return (seed & 1) == 0;
    }

    /**
     * The clients' operations. Clients that go silent share one cache, because the check depends on what they wrote.
     */
    WorkloadPlan workload() {
        final RandomSource random = new SplittableRandomSource(seed).fork("caches");
        return new WorkloadPlan(
                keys,
                isQuiet() ? List.of(CacheLimit.NONE) : WorkloadPlan.limits(random, keys, smallValue, hostile),
                clearOneIn(),
                ttlPerMille,
                touches(),
                1 + (int) (stepNs / 50));
    }

    /** Its traits for the choice of seeds. */
    List<String> traits() {
        final List<String> properties = new ArrayList<>();
        properties.add(servers + " servers, " + replicas + " replicas");
        properties.add(power ? "power" : "no device");
        properties.add(hostile ? "hostile" : isQuiet() ? "quiet" : "usual");
        properties.add(ballastPercent > 0 ? "full" : "room");
        properties.add(lossPerMille > 0 ? "loss" : "no loss");
        properties.add(leaseNs() > 0 ? "leases" : "no leases");
        properties.add(deadlineMs() > 0 ? "waiting callers" : "no waiting callers");
        properties.add(ttlPerMille > 0 ? touches() ? "touches" : "lifetimes" : "no lifetimes");
        properties.add(workload().caches().size() + " caches");
        properties.add(clientsSurvive ? "clients survive" : "clients end");
        return RareFirst.traits(
                properties, faults.stream().map(fault -> fault.kind().name()).toList());
    }

    private boolean isQuiet() {
        return shards == QUIET_SHARDS && !hostile;
    }

    /** Start values of the counters of a hostile store and of its clients. */
    CounterStarts counters() {
        return hostile ? CounterStarts.nearEnds(STEPS_LEFT) : CounterStarts.USUAL;
    }

    /** Clears are rare, because an empty store shows little, except where they are to be many. */
    int clearOneIn() {
        return (seed >>> 1) % 4 == 0 ? 20 : 150;
    }

    SimPlan withFaults(List<PlannedFault> fewer) {
        return copy(
                clients, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, ttlPerMille, fewer);
    }

    SimPlan withClients(int fewer) {
        return copy(
                fewer, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, ttlPerMille, faults);
    }

    SimPlan withOperations(int fewer) {
        return copy(clients, fewer, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, ttlPerMille, faults);
    }

    SimPlan withoutLoss() {
        return copy(clients, operations, 0, yieldPerMyriad, stallPerMyriad, deathPerMyriad, ttlPerMille, faults);
    }

    SimPlan withoutYields() {
        return copy(clients, operations, lossPerMille, 0, stallPerMyriad, deathPerMyriad, ttlPerMille, faults);
    }

    SimPlan withoutStalls() {
        return copy(clients, operations, lossPerMille, yieldPerMyriad, 0, deathPerMyriad, ttlPerMille, faults);
    }

    SimPlan withoutDeaths() {
        return copy(clients, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, 0, ttlPerMille, faults);
    }

    SimPlan withoutExpiry() {
        return copy(clients, operations, lossPerMille, yieldPerMyriad, stallPerMyriad, deathPerMyriad, 0, faults);
    }

    private SimPlan copy(
            int newClients,
            int newOperations,
            int loss,
            int yields,
            int stalls,
            int deaths,
            int ttl,
            List<PlannedFault> newFaults) {
        return new SimPlan(
                seed,
                servers,
                replicas,
                shards,
                workers,
                segments,
                maxMessage,
                newClients,
                keys,
                newOperations,
                smallValue,
                largeValue,
                loss,
                yields,
                stalls,
                deaths,
                stepNs,
                ttl,
                ballastPercent,
                clientsSurvive,
                power,
                hostile,
                List.copyOf(newFaults));
    }
}
