package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeContainer;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.embedded.StoreHistory.Kind;
import org.rowankv.server.embedded.StoreHistory.Step;
import org.rowankv.server.pm.Durability;

/**
 * Starts of the same bytes, compared field by field: with the checkpoints, without them, and with them once more. The bytes are those
 * of random histories that end by a close, by a kill at any named point, or by the loss of power.
 */
@Tag("chaos")
final class DifferentialStartsTest {
    private static final int INTERVAL_MS = 5;

    /** What the store of a history is like. */
    enum Shape {
        ALONE(1, Durability.NONE),
        ALONE_POWER(1, Durability.POWER),
        THREE(3, Durability.NONE),
        THREE_POWER(3, Durability.POWER);

        private final int servers;
        private final Durability level;

        Shape(int servers, Durability level) {
            this.servers = servers;
            this.level = level;
        }

        EmbeddedSettings settings() {
            return builder().durability(level).build();
        }

        /** Of a store in a directory. */
        EmbeddedSettings settings(Path dir) {
            return builder().dir(dir).build();
        }

        private EmbeddedSettings.Builder builder() {
            return EmbeddedSettings.builder()
                    .servers(servers)
                    .replicas(servers)
                    .shards(3)
                    .workers(2)
                    .segmentBytes(64 << 10)
                    .capacityBytes(servers == 1 ? 18 << 16 : 26 << 16)
                    .maxMessage(1024)
                    .scrubMibPerSecond(0)
                    .checkpointIntervalMs(INTERVAL_MS);
        }
    }

    /** So much was compared: a property about nothing would hold. */
    private static int startsFromCheckpoints;

    private static int withClears;
    private static int withSessions;
    private static int killedInside;

    private int pointsLeft;
    private KeptStore killedAt;

    @BeforeContainer
    static void begin() {
        startsFromCheckpoints = 0;
        withClears = 0;
        withSessions = 0;
        killedInside = 0;
    }

    @AfterContainer
    static void requireCoverage() {
        assertThat(startsFromCheckpoints).as("starts from checkpoints").isPositive();
        assertThat(withClears).as("of those with clears").isPositive();
        assertThat(withSessions).as("of those with sessions and answers").isPositive();
        assertThat(killedInside).as("kills inside a step").isPositive();
    }

    @AfterTry
    void leave() {
        Chaos.reset();
    }

    @Provide
    Arbitrary<List<Step>> histories() {
        final Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(30, Kind.PUT),
                Tuple.of(10, Kind.REMOVE),
                Tuple.of(10, Kind.TOUCH),
                Tuple.of(3, Kind.CLEAR),
                Tuple.of(2, Kind.DESTROY),
                Tuple.of(2, Kind.LIMIT),
                Tuple.of(6, Kind.OPEN_SESSION),
                Tuple.of(3, Kind.CLOSE_SESSION),
                Tuple.of(5, Kind.RETRY),
                Tuple.of(10, Kind.CHURN),
                Tuple.of(4, Kind.BURY),
                Tuple.of(6, Kind.TURNS),
                Tuple.of(2, Kind.TIME),
                Tuple.of(10, Kind.CHECKPOINT_TURN),
                Tuple.of(3, Kind.CHECKPOINT),
                Tuple.of(3, Kind.KILL),
                Tuple.of(1, Kind.CLOSE));
        final Arbitrary<Step> steps = Combinators.combine(
                        kinds.withoutEdgeCases(), Arbitraries.integers().withoutEdgeCases())
                .as(Step::new)
                .withoutEdgeCases();
        return steps.list().ofMinSize(150).ofMaxSize(350).withoutEdgeCases();
    }

    @Property(tries = 16, seed = "1")
    void shouldStartAsWithoutTheCheckpoint(@ForAll Shape shape, @ForAll("histories") List<Step> steps) {
        try (SecondCaller second = new SecondCaller()) {
            go(shape, steps, second);
        }
    }

    @Property(tries = 400)
    @Tag("long")
    void shouldStartAsWithoutTheCheckpointInManyHistories(@ForAll Shape shape, @ForAll("histories") List<Step> steps) {
        shouldStartAsWithoutTheCheckpoint(shape, steps);
    }

    private void go(Shape shape, List<Step> steps, SecondCaller second) {
        pointsLeft = 0;
        killedAt = null;
        final EmbeddedSettings settings = shape.settings();
        TurnedStore store = TurnedStore.open(settings, new KeptStore(), 1_000_000_000L, 1_700_000_000_000L, 1);
        final StoreHistory history = new StoreHistory(store, second);
        Chaos.install(point -> reached(history));
        for (int i = 0; i < steps.size(); i++) {
            final Step step = steps.get(i);
            if (step.kind() == Kind.CLOSE) {
                store = close(history, store, i);
                continue;
            }
            if (step.kind() == Kind.KILL) {
                pointsLeft = Math.floorMod(step.seed(), 200);
            } else {
                history.take(step);
            }
            if (killedAt != null || step.kind() == Kind.KILL && pointsLeft == 0) {
                final KeptStore left = killedAt == null ? store.kept().copy() : killedAt;
                killedInside += killedAt == null ? 0 : 1;
                store = killed(history, left, shape, new Random(step.seed()), i);
            }
        }
        close(history, store, steps.size());
    }

    /** What is copied while the store is open, opens as what the store was at that moment. */
    @Property(tries = 8, seed = "1")
    void shouldOpenACopyOfAnOpenStoreAsTheStoreWas(@ForAll Shape shape, @ForAll("histories") List<Step> steps)
            throws IOException {
        final Path directory = Files.createTempDirectory("copy");
        try (SecondCaller second = new SecondCaller()) {
            final TurnedStore store =
                    TurnedStore.open(shape.settings(), new KeptStore(), 1_000_000_000L, 1_700_000_000_000L, 1);
            final StoreHistory history = new StoreHistory(store, second);
            steps.stream()
                    .filter(step -> step.kind() != Kind.KILL && step.kind() != Kind.CLOSE)
                    .forEach(history::take);
            store.settle();
            store.cluster().snapshot(directory.resolve("store"));
            final StoreState state = StoreState.of(store.cluster(), history.closed());
            assertThat(store.cluster().errors().distinct()).isEmpty();

            final EmbeddedCluster copy = TurnedStore.openFiles(
                    shape.settings(directory.resolve("store")),
                    store.clock().nanoTime(),
                    store.clock().wallMs(),
                    2);
            try (copy) {
                final StoreState copied = StoreState.of(copy, history.closed());
                state.requireContentOf(copied, history.unanswered());
                copied.requireClosed(history.closed(), copied);
                copied.requireAgreement();
            }
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** At a named point: whether the process ends here. */
    private void reached(StoreHistory history) {
        if (pointsLeft > 0 && --pointsLeft == 0) {
            killedAt = history.store().kept().copy();
            history.kill();
        }
    }

    private TurnedStore close(StoreHistory history, TurnedStore store, int step) {
        pointsLeft = 0;
        store.cluster().close();
        history.checkpointed();
        killedAt = null;
        assertThat(store.cluster().errors().distinct()).isEmpty();
        return start(history, store.kept(), step);
    }

    private TurnedStore killed(StoreHistory history, KeptStore left, Shape shape, Random random, int step) {
        pointsLeft = 0;
        killedAt = null;
        if (shape.level == Durability.POWER && random.nextBoolean()) {
            left.cutPower(random);
        }
        return start(history, left, step);
    }

    /** Starts what is left in several ways, and goes on with the first. */
    private static TurnedStore start(StoreHistory history, KeptStore left, int step) {
        final ComparedStarts starts = new ComparedStarts(history, left, step + 2);
        if (starts.isFromCheckpoint()) {
            startsFromCheckpoints++;
            withClears += starts.state().sizes().get(1) > 0 ? 1 : 0;
            withSessions += starts.state().sizes().get(3) > 0 ? 1 : 0;
        }
        history.goOn(starts.next());
        return starts.next();
    }
}
