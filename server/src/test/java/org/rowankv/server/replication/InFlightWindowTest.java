package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.VersionCounter;

/**
 * A version that counts as finished is finished, and visible to the thread that finds it so, although slots change
 * their shards all the time.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class InFlightWindowTest {
    private static final int SHARDS = 3;
    private static final int WRITERS = 2;
    private static final int VERSIONS = 200_000;
    private static final int CLOSE = 64;

    private final InFlightWindow inFlightWindow = new InFlightWindow(WRITERS);
    private final VersionCounter[] counters = new VersionCounter[SHARDS];
    /** By shard and counter; plain, published by {@link InFlightWindow} alone. */
    private final byte[][] done = new byte[SHARDS][WRITERS * VERSIONS + CLOSE];

    private void write(int slot) {
        for (int i = 0; i < VERSIONS; i++) {
            final int shard = (i + slot) % SHARDS;
            inFlightWindow.announce(slot, shard, counters[shard].lowerBound());
            final long version = counters[shard].take();
            inFlightWindow.exact(slot, version);
            done[shard][indexOf(shard, version)] = 1;
            inFlightWindow.finished(slot);
        }
    }

    private final long[] firsts = new long[SHARDS];

    private int indexOf(int shard, long version) {
        return (int) (version - firsts[shard]);
    }

    private void read(AtomicBoolean over, AtomicReference<String> problem) {
        final int[] upTo = new int[SHARDS];
        while (!over.get() && problem.get() == null) {
            for (int shard = 0; shard < SHARDS; shard++) {
                final long finished = inFlightWindow.finished(shard, counters[shard].last());
                // Each once, in order: all up to there are finished.
                for (; upTo[shard] <= indexOf(shard, finished); upTo[shard]++) {
                    if (upTo[shard] >= 0 && done[shard][upTo[shard]] == 0) {
                        problem.set("shard " + shard + ": " + upTo[shard] + " of " + indexOf(shard, finished));
                    }
                }
            }
        }
    }

    @Test
    void shouldCallNothingFinishedWhoseEffectsAreNotVisible() throws InterruptedException {
        for (int shard = 0; shard < SHARDS; shard++) {
            counters[shard] = new VersionCounter(1);
            firsts[shard] = counters[shard].lowerBound();
        }
        final AtomicBoolean over = new AtomicBoolean();
        final AtomicReference<String> problem = new AtomicReference<>();
        final Thread reader = new Thread(() -> read(over, problem));
        reader.start();
        final List<Thread> writers = new ArrayList<>();
        for (int slot = 0; slot < WRITERS; slot++) {
            final int own = slot;
            final Thread writer = new Thread(() -> write(own));
            writers.add(writer);
            writer.start();
        }
        for (Thread writer : writers) {
            writer.join();
        }
        over.set(true);
        reader.join();
        assertThat(problem.get()).isNull();
    }

    @Test
    void shouldStayBehindEachVersionInFlight() {
        for (int shard = 0; shard < SHARDS; shard++) {
            counters[shard] = new VersionCounter(1);
        }
        final long bound = counters[0].lowerBound();
        inFlightWindow.announce(0, 0, bound);
        assertThat(lowered()).as("announced").containsExactly(Version.before(bound), last(1), last(2));
        final long version = counters[0].take();
        final long behind = counters[0].take(); // of another writer, finished before
        inFlightWindow.exact(0, version);
        assertThat(inFlightWindow.finished(0, behind)).isEqualTo(Version.before(version));
        assertThat(lowered()).as("taken").containsExactly(Version.before(version), last(1), last(2));
        inFlightWindow.finished(0);
        assertThat(inFlightWindow.finished(0, behind)).isEqualTo(behind);
        assertThat(lowered()).as("finished").containsExactly(behind, last(1), last(2));
    }

    private long last(int shard) {
        return counters[shard].last();
    }

    private long[] lowered() {
        final long[] smallest = new long[SHARDS];
        for (int shard = 0; shard < SHARDS; shard++) {
            smallest[shard] = last(shard);
        }
        inFlightWindow.lower(smallest);
        return smallest;
    }

    @Test
    void shouldEndALapOnceNothingOfAnEarlierLapIsInFlight() {
        inFlightWindow.announce(0, 0, 5);
        assertThat(inFlightWindow.advanceWindow(inFlightWindow.window())).isTrue();
        assertThat(inFlightWindow.window()).isOne();
        inFlightWindow.announce(1, 0, 6);
        assertThat(inFlightWindow.advanceWindow(inFlightWindow.window()))
                .as("slot 0 began in the previous window")
                .isFalse();
        assertThat(inFlightWindow.window()).isOne();
        inFlightWindow.finished(0);
        assertThat(inFlightWindow.advanceWindow(inFlightWindow.window())).isTrue();
        assertThat(inFlightWindow.window()).isEqualTo(2);
        assertThat(inFlightWindow.advanceWindow(2))
                .as("slot 1 began in window 1")
                .isFalse();
        assertThat(inFlightWindow.advanceWindow(1)).as("that one is over").isTrue();
        assertThat(inFlightWindow.window()).isEqualTo(2);
    }
}
