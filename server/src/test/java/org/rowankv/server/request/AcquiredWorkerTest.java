package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.log.Space;
import org.rowankv.server.request.AcquiredWorkers.Shape;
import org.rowankv.server.request.Asked.Kind;
import org.rowankv.server.shard.CacheCounts;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Mutations in acquired worker contexts, in every order of their steps and of the backup's acknowledgements. Some
 * owners die on the way, and the next owner completes or drops what they abandoned.
 */
final class AcquiredWorkerTest {
    private static final KeyHash HASH = new KeyHash(7);
    private static final byte[][] KEYS = keysOfOneStripe();
    private static final Set<String> SEND_POINTS = Set.of(
            "replicator.credit",
            "replicator.before-begin",
            "replicator.after-begin",
            "replicator.before-advance",
            "replicator.posted",
            "replicator.heard");
    private static final Set<String> REQUEST_POINTS =
            Set.of("request.after-version", "request.after-tlog", "request.before-index", "request.before-reply");

    private final Set<String> struckAt = new TreeSet<>();
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 512 << 10, 64 << 10, 0, 5, 1, Durability.NONE),
                    new SplittableRandomSource(1)),
            new Allocations(new SplittableRandomSource(2)),
            0,
            256 << 10);
    /** Reads the outcomes of all schedules; shared, since its checks are too many to create for each. */
    private final ObjectReader reader = new ObjectReader(
            segments,
            new ManualClock(),
            new ErrorLog(new ManualClock()),
            new ReadCheck(segments),
            false,
            new LimitedCaches(() -> new CacheCounts[0], 1, () -> 0, new Space(0)));

    private AcquiredWorkers running;

    private static byte[][] keysOfOneStripe() {
        final byte[][] keys = new byte[2][];
        for (int i = 0, found = 0; found < keys.length; i++) {
            final byte[] key = ("key" + i).getBytes(StandardCharsets.US_ASCII);
            if (KeyLocks.stripeOf(ShardMap.positionOf(HASH.hash(Asked.CACHE, key, 0, key.length), 1)) == 9) {
                keys[found++] = key;
            }
        }
        return keys;
    }

    private void reached(String point) {
        if (running != null) {
            running.reached(point);
        }
    }

    /** Random numbers for generations, drawn where a segment is opened: an error may strike there. */
    private final class Allocations implements RandomSource {
        private final RandomSource source;

        Allocations(RandomSource source) {
            this.source = source;
        }

        @Override
        public long nextLong() {
            reached("segments.open");
            return source.nextLong();
        }

        @Override
        public int nextInt(int bound) {
            return source.nextInt(bound);
        }

        @Override
        public RandomSource fork(String name) {
            return new Allocations(source.fork(name));
        }
    }

    /** Requested by one client, in sequence: the kind and the key of each. */
    private record Issue(Kind kind, int key) {}

    private static Issue issue(Kind kind, int key) {
        return new Issue(kind, key);
    }

    /** Explores everything; returns the number of schedules. */
    private int explore(Shape shape, List<List<Issue>> issued) {
        final Choices choices = new Choices();
        int schedules = 0;
        do {
            running = null;
            running = new AcquiredWorkers(shape, choices, struckAt, segments, reader, HASH, KEYS, programs(issued));
            try {
                running.run();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("schedule " + schedules + ", " + choices + ":\n" + running.story(), e);
            }
            running.recycle();
            schedules++;
        } while (choices.nextRun());
        return schedules;
    }

    private static List<List<Asked>> programs(List<List<Issue>> issued) {
        final List<List<Asked>> programs = new ArrayList<>();
        for (int client = 0; client < issued.size(); client++) {
            final List<Asked> program = new ArrayList<>();
            for (Issue each : issued.get(client)) {
                final int number = program.size() + 2;
                program.add(new Asked(each.kind, each.key, "value " + client + "-" + number, client + 1, number));
            }
            programs.add(program);
        }
        return programs;
    }

    @AfterEach
    void reset() {
        if (Chaos.ENABLED) {
            Chaos.reset();
        }
    }

    /** Two clients with two mutations each, conditional on one another. */
    private static final List<List<Issue>> PAIRS = List.of(
            List.of(issue(Kind.PUT, 0), issue(Kind.PUT_IF_ABSENT, 1)),
            List.of(issue(Kind.REPLACE_FIRST, 0), issue(Kind.DELETE, 1)));

    /** A clear, which needs all locks, between others. */
    private static final List<List<Issue>> WITH_CLEAR = List.of(
            List.of(issue(Kind.CLEAR, 0), issue(Kind.PUT_IF_ABSENT, 0)),
            List.of(issue(Kind.DELETE, 0), issue(Kind.PUT, 1)));

    /** A clear beside a put, and what follows it. */
    private static final List<List<Issue>> SHORT_WITH_CLEAR =
            List.of(List.of(issue(Kind.CLEAR, 0), issue(Kind.PUT_IF_ABSENT, 0)), List.of(issue(Kind.PUT, 1)));

    /** Three clients for fewer worker contexts. */
    private static final List<List<Issue>> THREE = List.of(
            List.of(issue(Kind.PUT, 0)), List.of(issue(Kind.REPLACE_FIRST, 0)), List.of(issue(Kind.PUT_IF_ABSENT, 1)));

    /** Fewer steps, for what takes many schedules. */
    private static final List<List<Issue>> SHORT =
            List.of(List.of(issue(Kind.PUT, 0)), List.of(issue(Kind.REPLACE_FIRST, 0), issue(Kind.DELETE, 0)));

    /** Fewer still: a put, and a mutation that depends on it. */
    private static final List<List<Issue>> REPLACED =
            List.of(List.of(issue(Kind.PUT, 0)), List.of(issue(Kind.REPLACE_FIRST, 0)));

    private static final List<List<Issue>> TWO = List.of(List.of(issue(Kind.PUT, 1)), List.of(issue(Kind.PUT, 1)));

    @Test
    void shouldTakeEffectInSomeOrder() {
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(PAIRS, WITH_CLEAR, THREE)) {
            schedules += explore(new Shape(2, 1, 0, 1, false, false), issued);
        }
        assertThat(schedules).isGreaterThan(1_000);
    }

    @Test
    void shouldFinishOrDropWhatTheDeadLeft() {
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(SHORT_WITH_CLEAR, SHORT)) {
            schedules += explore(new Shape(2, 1, 1, 0, false, false), issued);
        }
        assertThat(schedules).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(SEND_POINTS);
    }

    /** At whatever moment: each was complete, or is refused, or its outcome stays open. */
    @Test
    @Tag("chaos")
    void shouldCompleteOrRefuseOrLeaveOpenWhatMeetsAnotherPrimary() {
        Chaos.install(this::reached);
        int schedules = explore(new Shape(2, 1, 0, 1, false, false).departing(), SHORT);
        schedules += explore(new Shape(2, 1, 1, 0, false, false).departing(), REPLACED);
        schedules += explore(new Shape(1, 1, 0, 0, false, true).departing(), TWO);
        assertThat(schedules).isGreaterThan(1_000);
    }

    @Test
    @Tag("chaos")
    @Tag("long")
    void shouldCompleteOrRefuseOrLeaveOpenMoreThatMeetsAnotherPrimary() {
        Chaos.install(this::reached);
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(PAIRS, WITH_CLEAR)) {
            schedules += explore(new Shape(2, 1, 0, 1, false, false).departing(), issued);
        }
        assertThat(schedules).isGreaterThan(1_000);
    }

    @Test
    @Tag("long")
    void shouldFinishOrDropWhatTheDeadLeftOfMore() {
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(PAIRS, WITH_CLEAR, THREE)) {
            schedules += explore(new Shape(2, 1, 1, 0, false, false), issued);
        }
        assertThat(schedules).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(SEND_POINTS);
    }

    @Test
    void shouldTakeEffectOnceWhenAskedAgain() {
        assertThat(explore(new Shape(2, 1, 1, 0, true, false), SHORT)).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(SEND_POINTS);
    }

    @Test
    @Tag("long")
    void shouldTakeEffectOnceWhenAllIsAskedAgain() {
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(PAIRS, WITH_CLEAR)) {
            schedules += explore(new Shape(2, 1, 1, 0, true, false), issued);
        }
        assertThat(schedules).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(SEND_POINTS);
    }

    /** The helper that completes an abandoned mutation can die as well. */
    @Test
    void shouldSurviveTwoDeaths() {
        assertThat(explore(new Shape(1, 1, 2, 0, false, false), REPLACED)).isGreaterThan(1_000);
    }

    @Test
    @Tag("long")
    void shouldSurviveTwoDeathsOfThree() {
        assertThat(explore(new Shape(1, 1, 2, 0, false, false), THREE)).isGreaterThan(1_000);
    }

    @Test
    @Tag("long")
    void shouldSurviveTwoDeathsWithEntriesInPieces() {
        assertThat(explore(new Shape(1, 2, 2, 0, false, false), TWO)).isGreaterThan(1_000);
    }

    @Test
    void shouldWaitForRoomOrLeaveNoTrace() {
        assertThat(explore(new Shape(1, 1, 1, 0, false, true), TWO)).isGreaterThan(500);
        assertThat(struckAt).contains("segments.open");
    }

    @Test
    @Tag("long")
    void shouldWaitForRoomOrLeaveNoTraceBesideAnother() {
        assertThat(explore(new Shape(2, 1, 1, 0, false, true), TWO)).isGreaterThan(1_000);
        assertThat(struckAt).contains("segments.open");
    }

    @Test
    @Tag("chaos")
    void shouldLeaveNothingHalfDoneWhereverAnErrorStrikes() {
        Chaos.install(this::reached);
        int schedules = explore(new Shape(2, 1, 1, 0, false, false), SHORT_WITH_CLEAR);
        schedules += explore(new Shape(2, 1, 1, 0, true, false), REPLACED);
        assertThat(schedules).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(REQUEST_POINTS);
    }

    @Test
    @Tag("chaos")
    @Tag("long")
    void shouldLeaveNothingHalfDoneOfMoreWhereverAnErrorStrikes() {
        Chaos.install(this::reached);
        int schedules = 0;
        for (List<List<Issue>> issued : List.of(PAIRS, WITH_CLEAR)) {
            schedules += explore(new Shape(2, 1, 1, 0, false, false), issued);
        }
        schedules += explore(new Shape(2, 1, 1, 0, true, false), SHORT);
        assertThat(schedules).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(REQUEST_POINTS);
    }

    @Test
    @Tag("chaos")
    @Tag("long")
    void shouldLeaveNothingHalfDoneWhenAllIsAskedAgain() {
        Chaos.install(this::reached);
        assertThat(explore(new Shape(2, 1, 1, 0, true, false), PAIRS)).isGreaterThan(1_000);
        assertThat(struckAt).containsAll(REQUEST_POINTS);
    }

    @Test
    @Tag("chaos")
    void shouldTakeEffectInSomeOrderAsFineAsItsPoints() {
        Chaos.install(this::reached);
        assertThat(explore(new Shape(3, 1, 0, 1, false, false), THREE)).isGreaterThan(1_000);
    }

    @Test
    @Tag("chaos")
    @Tag("long")
    void shouldTakeEffectInSomeOrderWithTwoAtItsPoints() {
        Chaos.install(this::reached);
        assertThat(explore(new Shape(3, 1, 0, 2, false, false), THREE)).isGreaterThan(1_000);
    }
}
