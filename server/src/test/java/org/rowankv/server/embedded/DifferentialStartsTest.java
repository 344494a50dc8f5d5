package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.embedded.RandomHistory.Shape;
import org.rowankv.server.embedded.StoreHistory.Kind;

/**
 * Starts of the same bytes, compared field by field: with the checkpoints, without them, and with them again. The bytes
 * belong to random histories that end by a close, by a kill at any named point, or by a power cut.
 *
 * <p>The seed in the name of a test determines its history. {@code -Drowan.history=SEED} plays that history alone, and
 * {@code -Drowan.histories=COUNT} that many from there on.
 */
@Tag("chaos")
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class DifferentialStartsTest {
    /** Histories that have found a bug, in the product or in this test. */
    private static final long[] FOUND = {15, 87, 88, 183, 327, 342};

    private static final long FIRST = 1_000;
    private static final int COPIES = 8;

    private static final Long ASKED = Long.getLong("rowan.history");

    /** Number of comparisons: a comparison of nothing would pass. */
    private static int histories;

    private static int startsFromCheckpoints;
    private static int withClears;
    private static int withSessions;
    private static int killedInside;

    @BeforeAll
    static void begin() {
        histories = 0;
        startsFromCheckpoints = 0;
        withClears = 0;
        withSessions = 0;
        killedInside = 0;
    }

    @AfterAll
    static void requireCoverage() {
        if (histories >= FOUND.length) {
            assertThat(startsFromCheckpoints).as("starts from checkpoints").isPositive();
            assertThat(withClears).as("of those with clears").isPositive();
            assertThat(withSessions).as("of those with sessions and answers").isPositive();
            assertThat(killedInside).as("kills inside a step").isPositive();
        }
    }

    /** A build plays the same histories each time; the long form begins anywhere. */
    static LongStream seeds() {
        if (ASKED != null) {
            return LongStream.range(ASKED, ASKED + Integer.getInteger("rowan.histories", 1));
        }
        final long first = TestScale.of(0, 1) == 0 ? FIRST : new Random().nextInt();
        return LongStream.concat(LongStream.of(FOUND), LongStream.range(first, first + TestScale.of(10, 400)));
    }

    @ParameterizedTest(name = "history {0}")
    @MethodSource("seeds")
    void shouldStartAsWithoutTheCheckpoint(long seed) {
        final ComparedHistory played = ComparedHistory.play(RandomHistory.of(seed));
        histories++;
        startsFromCheckpoints += played.startsFromCheckpoints();
        withClears += played.withClears();
        withSessions += played.withSessions();
        killedInside += played.killedInside();
    }

    /** Otherwise a failed history could not be examined. */
    @Test
    void shouldRepeatAHistoryToTheByte() {
        final RandomHistory history = RandomHistory.of(FOUND[0]);
        assertThat(ComparedHistory.play(history).trace())
                .isEqualTo(ComparedHistory.play(history).trace());
    }

    static LongStream copiedSeeds() {
        return LongStream.range(0, COPIES);
    }

    /** A snapshot of an open store opens with the content of that moment. */
    @ParameterizedTest(name = "history {0}")
    @MethodSource("copiedSeeds")
    void shouldOpenACopyOfAnOpenStoreAsTheStoreWas(long seed, @TempDir Path directory) {
        final RandomHistory random = RandomHistory.of(seed);
        final Shape shape = random.shape();
        try (CallerThread second = CallerThread.ofAnotherContext()) {
            final SteppedStore store =
                    SteppedStore.open(shape.settings(), new KeptStore(), 1_000_000_000L, 1_700_000_000_000L, 1);
            final StoreHistory history = new StoreHistory(store, second);
            random.steps().stream()
                    .filter(step -> step.kind() != Kind.KILL && step.kind() != Kind.CLOSE)
                    .forEach(history::take);
            store.settle();
            store.cluster().snapshot(directory.resolve("store"));
            final StoreState state = StoreState.of(store.cluster(), history.closed());
            assertThat(store.cluster().errors().distinct()).isEmpty();

            final EmbeddedCluster copy = SteppedStore.openFiles(
                    shape.settings(directory.resolve("store")),
                    store.clock().nanoTime(),
                    store.clock().wallMs(),
                    2);
            try (copy) {
                final StoreState copied = StoreState.atStart(copy, history.closed());
                state.requireContentOf(copied, history.unanswered());
                copied.requireClosed(history.closed(), copied);
                copied.requireAgreement();
            }
        }
    }
}
