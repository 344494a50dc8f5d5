package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.Durability;

/** Bytes of a segment's earlier uses never count in its present one. */
final class SegmentGenerationsTest {
    private static final int STARTS = 4;
    private static final int SEGMENT = 64 << 10;

    /** A stride after the end of these tests' logs. */
    private static final int BEHIND = 40 * FrameDescriptor.STRIDE;
    /** The last stride of a segment. */
    private static final int LAST = SEGMENT - FrameDescriptor.STRIDE;
    /** Not an entry type of the store, but a possible one. */
    private static final int OLD_TYPE = 92;

    private final Area area = newArea();

    /** A start of the server that owns the area, each with the same seed. */
    private Segments start() {
        return start(area);
    }

    private static Area newArea() {
        return Area.create(
                new AreaSettings(null, 1 << 20, SEGMENT, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));
    }

    private static Segments start(Area area) {
        return new Segments(area, new SplittableRandomSource(2), 0, 1 << 20);
    }

    private static void free(Segments segments, int segment) {
        if (segments.state(segment) == SegmentState.USING) {
            segments.transition(segment, SegmentState.USING, SegmentState.COMMITTED);
        }
        segments.free(segment);
    }

    private static void write(AppendLog log, long version) {
        final EntryDraft draft = new EntryDraft();
        draft.begin(EntryType.DELETE, 0, 3).key(new byte[] {'k'}, 0, 1).version(version);
        assertThat(log.ensureRoom(EntryDescriptor.aligned((int) draft.usedLength())))
                .isTrue();
        log.append(draft, 1);
    }

    private static List<Long> found(Segments segments, int segment) {
        final List<Long> versions = new ArrayList<>();
        new SegmentScan(segments.region())
                .scan(
                        segments.area().addressOf(segment),
                        segments.length(),
                        segments.generation(segment),
                        new SegmentScan.Visitor() {
                            @Override
                            public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                versions.add(EntryDescriptor.version(buffer, at));
                            }

                            @Override
                            public void onInvalid(long address, String reason) {
                                throw new AssertionError(reason);
                            }
                        });
        return versions;
    }

    /**
     * In each start a segment is first posted in vain, which leaves its bytes, and then becomes a log. With the same
     * numbers drawn in each start, a log had the generation of the log before its last use.
     */
    @Test
    void shouldFindNothingOfAnEarlierLogBehindTheEndOfALogAlsoWhenASeedComesTwice() {
        long version = Version.of(1, 0);
        for (int run = 1; run <= STARTS; run++) {
            final Segments segments = start();
            final int posted = segments.allocate(SegmentOwner.BACKUP, 0);
            free(segments, posted);
            final AppendLog log = new AppendLog(segments, SegmentOwner.CLEAN);
            final List<Long> written = new ArrayList<>();
            // Fewer in each start: those of the previous start follow the end.
            for (int i = run; i <= STARTS; i++) {
                version = Version.next(version);
                write(log, version);
                written.add(version);
            }
            assertThat(log.openSegment()).isEqualTo(posted);
            assertThat(found(segments, posted)).as("start %d", run).isEqualTo(written);
            log.retire();
            free(segments, posted);
        }
    }

    /** A start draws from its own stream, whatever its seed; and a start that opened nothing has left nothing. */
    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "CLEAN", "BACKUP"})
    void shouldDrawOtherGenerationsInEachStart(SegmentOwner owner) {
        final Set<Integer> drawn = new HashSet<>();
        for (int run = 0; run < STARTS; run++) {
            final Segments segments = start();
            for (int use = 0; use < 3; use++) {
                final int segment = segments.allocate(owner, 0);
                assertThat(drawn.add(segments.generation(segment) & -256)).isTrue();
                free(segments, segment);
            }
        }
    }

    /** A reader with an address of an earlier use finds another generation, even if no byte of that use is left. */
    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "CLEAN"})
    void shouldGiveALogNoneOfItsSegmentsLast255(SegmentOwner owner) {
        final Segments segments = start();
        int before = 0;
        for (int use = 0; use < 600; use++) {
            final int segment = segments.allocate(owner, 0);
            final int generation = segments.generation(segment);
            if (use > 0) {
                assertThat(generation & 255).isEqualTo(before + 1 & 255);
            }
            before = generation;
            free(segments, segment);
        }
    }

    /**
     * Bytes of an old value follow the end of a log, and one of them looks like a word of the log's next generation. A
     * scan would report a damaged entry, and the cleaner would never free the segment.
     */
    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "CLEAN", "BACKUP"})
    void shouldNotGiveALogAGenerationThatStandsInItsOldBytes(SegmentOwner owner) {
        final int[] expected = generationsOfTwoUses(owner, 0, 0, BEHIND);
        for (int use = 0; use < expected.length; use++) {
            for (int at : new int[] {BEHIND, LAST}) {
                final int[] drawn = generationsOfTwoUses(owner, use, expected[use], at);
                assertThat(drawn[use])
                        .as("use %d of a log of %s, word at %d", use, owner, at)
                        .isNotEqualTo(expected[use]);
            }
        }
    }

    /**
     * The generations of a segment used in an earlier start, in its first two uses by this one.
     *
     * @param useWithOldWord the use before which a word of the generation is planted after the end of the log
     * @param at its offset in the segment
     */
    private static int[] generationsOfTwoUses(SegmentOwner owner, int useWithOldWord, int planted, int at) {
        final Area used = newArea();
        final Segments before = start(used);
        final int only = before.allocate(SegmentOwner.WORKER, 0);
        free(before, only);
        final int[] generations = new int[2];
        final Segments segments = start(used);
        for (int use = 0; use < generations.length; use++) {
            if (use == 0 && useWithOldWord == 0) {
                plant(segments, only, planted, at);
            }
            final AppendLog log = new AppendLog(segments, owner);
            write(log, Version.of(1, use + 1));
            final int segment = log.openSegment();
            assertThat(segment).isEqualTo(only);
            generations[use] = segments.generation(segment);
            assertThat(found(segments, segment)).containsExactly(Version.of(1, use + 1));
            log.retire();
            if (use == 0 && useWithOldWord == 1) {
                plant(segments, segment, planted, at); // like a value in this use of the segment
            }
            free(segments, segment);
        }
        return generations;
    }

    /** All strides of the segment are read for it: cleaners and other logs do not wait for that. */
    @ParameterizedTest
    @EnumSource(
            value = SegmentOwner.class,
            names = {"WORKER", "CLEAN", "BACKUP"})
    void shouldLetOthersTakeAndFreeSegmentsWhileOneLooksForAGeneration(SegmentOwner owner) {
        final Area used = newArea();
        final Queue<Runnable> whileDrawing = new ArrayDeque<>();
        final RandomSource random = watched(new SplittableRandomSource(2), whileDrawing);
        final Segments segments = new Segments(used, random, 0, 1 << 20);
        final int count = segments.freeCount();
        final int first = segments.allocate(SegmentOwner.WORKER, 0);
        segments.transition(first, SegmentState.USING, SegmentState.COMMITTED);
        final AtomicBoolean freed = new AtomicBoolean();
        whileDrawing.add(() -> {
            inAnotherThread(() -> segments.free(first));
            freed.set(true);
        });
        final int second = segments.allocate(owner, 0);
        assertThat(freed).isTrue();
        assertThat(second).isNotEqualTo(first);
        assertThat(segments.generation(first)).isZero();
        assertThat(segments.freeCount()).isEqualTo(count - 1);
        assertThat(segments.allocate(SegmentOwner.WORKER, 0)).isEqualTo(first);
    }

    @Test
    void shouldGiveEachOfManyThreadsSegmentsOfItsOwn() throws InterruptedException {
        final Segments segments = start();
        final AtomicIntegerArray owners = new AtomicIntegerArray(segments.count());
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            final SegmentOwner owner = t % 2 == 0 ? SegmentOwner.WORKER : SegmentOwner.BACKUP;
            final Thread thread = new Thread(() -> {
                for (int i = 0; i < 2_000; i++) {
                    final int segment = segments.allocate(owner, 0);
                    if (segment >= 0) {
                        assertThat(owners.getAndIncrement(segment)).isZero();
                        assertThat(segments.generation(segment))
                                .isEqualTo(segments.area().segments().generation(segment))
                                .isNotZero();
                        assertThat(segments.owner(segment)).isEqualTo(owner);
                        owners.decrementAndGet(segment);
                        free(segments, segment);
                    }
                }
            });
            thread.setUncaughtExceptionHandler((each, e) -> failure.set(e));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failure.get()).isNull();
        assertThat(segments.freeCount()).isEqualTo(segments.count());
    }

    /** Its thread may run out of stack there: the segment stays free, and the next caller takes it. */
    @Test
    void shouldLoseNoSegmentToAnErrorWhileItsGenerationIsDrawn() {
        final Queue<Runnable> whileDrawing = new ArrayDeque<>();
        final Segments segments =
                new Segments(newArea(), watched(new SplittableRandomSource(2), whileDrawing), 0, 1 << 20);
        final int count = segments.freeCount();
        whileDrawing.add(() -> {
            throw new StackOverflowError("injected");
        });
        assertThatThrownBy(() -> segments.allocate(SegmentOwner.WORKER, 0)).isInstanceOf(StackOverflowError.class);
        assertThat(segments.freeCount()).isEqualTo(count);
        final Set<Integer> taken = new HashSet<>();
        for (int i = 0; i < count; i++) {
            assertThat(taken.add(segments.allocate(SegmentOwner.WORKER, 0))).isTrue();
        }
        assertThat(taken).doesNotContain(-1);
        assertThat(segments.allocate(SegmentOwner.CLEAN, 0)).isEqualTo(-1);
    }

    /** Draws as the source does, and runs one of the tasks before each draw. */
    private static RandomSource watched(RandomSource source, Queue<Runnable> tasks) {
        return new RandomSource() {
            @Override
            public long nextLong() {
                final Runnable next = tasks.poll();
                if (next != null) {
                    next.run();
                }
                return source.nextLong();
            }

            @Override
            public int nextInt(int bound) {
                return source.nextInt(bound);
            }

            @Override
            public RandomSource fork(String name) {
                return watched(source.fork(name), tasks);
            }
        };
    }

    private static void inAnotherThread(Runnable task) {
        assertThat(CompletableFuture.runAsync(task)).succeedsWithin(Duration.ofSeconds(20));
    }

    private static void plant(Segments segments, int segment, int generation, int at) {
        final long address = segments.area().addressOf(segment) + at;
        segments.region()
                .buffer(address)
                .putLong(segments.region().offset(address), FrameDescriptor.word(generation, 3, OLD_TYPE));
    }
}
