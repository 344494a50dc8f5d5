package org.rowankv.sim.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.PlannedFault.Kind;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.workload.WorkloadPlan;

/**
 * The plan of an embedded store. Its areas may have a device that is forced before any acknowledgement: then crashes
 * are power cuts, too.
 *
 * @param ttlPerMille writes of values with a lifetime
 * @param ballastPercent of the space that is used in advance
 * @param clientsSurvive whether clients return after a crash for their missing replies
 * @param hostile whether settings and the servers' process values are at their limits
 */
record EmbeddedPlan(SimPlan shared, int ttlPerMille, int ballastPercent, boolean clientsSurvive, boolean hostile) {
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

    /** Kinds that are drawn together; crashes, which exercise most of the code, also apart. */
    private static final List<Kind> USUAL = List.of(
            Kind.CRASH,
            Kind.STOP,
            Kind.FENCE,
            Kind.PAUSE,
            Kind.LEAVE,
            Kind.CUT_OFF,
            Kind.DISK_LOST,
            Kind.SLOW,
            Kind.CUT_ONE_WAY,
            Kind.CLOCK_LEAP,
            Kind.CRASH_BEHIND,
            Kind.LAST_WORDS,
            Kind.CATALOGUE);

    private static final List<Kind> OF_DEVICES = List.of(
            Kind.BIT_ROT,
            Kind.BIT_ROT,
            Kind.FORCE_FAILS,
            Kind.FORCE_FAILS,
            Kind.DISK_FULL,
            Kind.DEVICE_LIES,
            Kind.OLD_AREA,
            Kind.CRASH_IN_CLOSE);

    static EmbeddedPlan of(long seed) {
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
        final SimPlan shared = new SimPlan(
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
                SimPlan.swarm(random, 100),
                SimPlan.swarm(random, 5),
                SimPlan.swarm(random, 2),
                1_000L << random.nextInt(8),
                random.fork("power").nextInt(2) == 0,
                List.of());
        final int ttlPerMille = random.nextInt(2) == 0 ? 0 : random.nextInt(200);
        final int ballastPercent = random.nextInt(hostile ? 2 : 4) > 0 ? 0 : 70 + random.nextInt(31);
        final boolean clientsSurvive = random.nextInt(3) > 0;
        final SimPlan disturbed = shared.withFaults(faults(random, random.fork("devices"), random.fork("transfers")));
        final EmbeddedPlan plan = new EmbeddedPlan(disturbed, ttlPerMille, ballastPercent, clientsSurvive, hostile);
        final RandomSource quiet = random.fork("last words");
        return !hostile && quiet.nextInt(QUIET_ONE_IN) == 0 ? plan.quiet(quiet) : plan;
    }

    /**
     * The same with clients that go silent, in a store that depends on what they wrote: it is in separate segments,
     * each key in its own shard, so that all replies are kept. Segments are few, so that the others are soon reused,
     * and removals are soon forgotten.
     */
    private EmbeddedPlan quiet(RandomSource random) {
        final boolean single = random.nextInt(3) > 0;
        final int newReplicas = single ? 1 : shared.replicas();
        final List<PlannedFault> silences = new ArrayList<>();
        for (int after = 100; after < OPERATIONS; after += 600) {
            silences.add(new PlannedFault(after, Kind.LAST_WORDS, random.nextInt(1000), random.nextInt(1000)));
        }
        final SimPlan quiet = new SimPlan(
                shared.seed(),
                single ? 1 : shared.servers(),
                newReplicas,
                QUIET_SHARDS,
                shared.workers(),
                (int) (EmbeddedSettings.minimumCapacity(newReplicas, shared.workers(), SEGMENT) / SEGMENT)
                        + random.nextInt(2),
                shared.maxMessage(),
                shared.clients(),
                20 - random.nextInt(4),
                shared.operations(),
                6_000,
                20_000,
                shared.lossPerMille(),
                shared.yieldPerMyriad(),
                shared.stallPerMyriad(),
                shared.deathPerMyriad(),
                shared.stepNs(),
                shared.power(),
                List.copyOf(silences));
        return new EmbeddedPlan(quiet, ttlPerMille, 20 + random.nextInt(50), clientsSurvive, false);
    }

    /**
     * @param devices random source of device faults: none in two seeds of five, and at most three times
     * @param transfers likewise of transfers: none in one seed of two, and at most six
     */
    private static List<PlannedFault> faults(RandomSource random, RandomSource devices, RandomSource transfers) {
        final List<PlannedFault> faults = new ArrayList<>();
        final int count = 4 + random.nextInt(7);
        for (int i = 0; i < count; i++) {
            final Kind kind = i == 0 || random.nextInt(4) == 0 ? Kind.CRASH : USUAL.get(random.nextInt(USUAL.size()));
            faults.add(PlannedFault.draw(random, OPERATIONS, () -> kind));
        }
        for (int i = devices.nextInt(5) < 2 ? 0 : 1 + devices.nextInt(3); i > 0; i--) {
            faults.add(
                    PlannedFault.draw(devices, OPERATIONS, () -> OF_DEVICES.get(devices.nextInt(OF_DEVICES.size()))));
        }
        for (int i = transfers.nextInt(2) == 0 ? 0 : 1 + transfers.nextInt(6); i > 0; i--) {
            faults.add(PlannedFault.draw(transfers, OPERATIONS, () -> Kind.TRANSFER));
        }
        return PlannedFault.inOrder(faults);
    }

    EmbeddedSettings settings() {
        return EmbeddedSettings.of(
                builder().andThen(with -> with.durability = shared.power() ? Durability.POWER : Durability.NONE));
    }

    /** Settings of a copy of the store in a directory. */
    EmbeddedSettings settingsOfCopy(Path directory) {
        return EmbeddedSettings.of(builder().andThen(with -> {
            with.dir = directory;
            with.durability = Durability.PROCESS;
        }));
    }

    private Consumer<EmbeddedSettings.Builder> builder() {
        return with -> {
            with.scrubMibPerSecond = (int) Math.max(1, SCRUBBED_MIB / shared.stepNs());
            with.servers = shared.servers();
            with.replicas = shared.replicas();
            with.shards = shared.shards();
            with.workers = shared.workers();
            with.segmentBytes = SEGMENT;
            with.capacityBytes = (long) shared.segments() * SEGMENT;
            with.maxMessage = shared.maxMessage();
            with.verifyReads = true;
            with.checkpointIntervalMs = CHECKPOINTS_MS[(int) (shared.seed() >>> 1 & CHECKPOINTS_MS.length - 1)];
        };
    }

    /** A random source of its own for something that the seed decides. */
    private RandomSource drawn(String what) {
        return new SplittableRandomSource(shared.seed()).fork(what);
    }

    /** How long a call waits for its reply; 0 if this seed has no blocking caller. */
    long deadlineMs() {
        return drawn("callers that wait").nextInt(4) == 0 ? DEADLINE_MS : 0;
    }

    /** Maximum number of steps of a force, by the device of a seed; 0: it ends as soon as it runs. */
    int forceSteps() {
        return FORCE_STEPS[drawn("device").nextInt(FORCE_STEPS.length)];
    }

    /** How long a session is kept without requests; 0: for ever, as where silent clients return for replies. */
    long leaseNs() {
        final RandomSource random = drawn("leases");
        return shared.has(Kind.LAST_WORDS) || shared.shards() > MOST_SHARDS_WITH_LEASES || random.nextInt(3) == 0
                ? 0
                : 10_000_000 + 1_000 * shared.stepNs() << random.nextInt(3);
    }

    /** Whether lifetimes are changed by touches; without them, an end is known to the millisecond. */
    boolean touches() {
        return (shared.seed() & 1) == 0;
    }

    /**
     * The clients' operations. Clients that go silent share one cache, because the check depends on what they wrote.
     * Clears are rare, because an empty store shows little, except where they are to be many.
     */
    WorkloadPlan workload() {
        final List<CacheLimit> caches = isQuiet()
                ? List.of(CacheLimit.NONE)
                : WorkloadPlan.limits(drawn("caches"), shared.keys(), shared.smallValue(), hostile);
        return new WorkloadPlan(
                shared.keys(),
                caches,
                (shared.seed() >>> 1) % 4 == 0 ? 20 : 150,
                ttlPerMille,
                touches(),
                1 + (int) (shared.stepNs() / 50));
    }

    /** Its traits for the choice of seeds. */
    List<String> traits() {
        return shared.traits(List.of(
                shared.servers() + " servers, " + shared.replicas() + " replicas",
                shared.power() ? "power" : "no device",
                hostile ? "hostile" : isQuiet() ? "quiet" : "usual",
                ballastPercent > 0 ? "full" : "room",
                shared.lossPerMille() > 0 ? "loss" : "no loss",
                leaseNs() > 0 ? "leases" : "no leases",
                deadlineMs() > 0 ? "waiting callers" : "no waiting callers",
                ttlPerMille > 0 ? touches() ? "touches" : "lifetimes" : "no lifetimes",
                workload().caches().size() + " caches",
                clientsSurvive ? "clients survive" : "clients end"));
    }

    private boolean isQuiet() {
        return shared.shards() == QUIET_SHARDS && !hostile;
    }

    /** Start values of the counters of a hostile store and of its clients. */
    CounterStarts counters() {
        return hostile ? CounterStarts.nearEnds(STEPS_LEFT) : CounterStarts.USUAL;
    }

    EmbeddedPlan withoutExpiry() {
        return new EmbeddedPlan(shared, 0, ballastPercent, clientsSurvive, hostile);
    }

    /** The same with a smaller run. */
    EmbeddedPlan with(UnaryOperator<SimPlan> smaller) {
        return new EmbeddedPlan(smaller.apply(shared), ttlPerMille, ballastPercent, clientsSurvive, hostile);
    }
}
