package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.StoreHistory.Kind;
import org.rowankv.server.embedded.StoreHistory.Step;

/**
 * A history, played step by step. Whenever the store ends, its bytes are started in several ways, and the results
 * compared. Deterministic: only the history determines what happens.
 */
final class ComparedHistory {
    private final RandomHistory history;
    private int pointsLeft;
    private long pointsReached;
    private @Nullable KeptStore killedAt;
    private int startsFromCheckpoints;
    private int withClears;
    private int withSessions;
    private int killedInside;
    private long bytesAtEnd;

    private ComparedHistory(RandomHistory history) {
        this.history = history;
    }

    /** Plays the history to its end. The named points of the code are enabled meanwhile. */
    static ComparedHistory play(RandomHistory history) {
        final ComparedHistory played = new ComparedHistory(history);
        try (CallerThread first = new CallerThread(1);
                CallerThread second = new CallerThread(0)) {
            first.run(() -> played.play(second));
        } finally {
            Chaos.reset();
        }
        return played;
    }

    private void play(CallerThread second) {
        final EmbeddedSettings settings = history.shape().settings();
        SteppedStore store = SteppedStore.open(settings, new KeptStore(), 1_000_000_000L, 1_700_000_000_000L, 1);
        final StoreHistory played = new StoreHistory(store, second);
        Chaos.install(point -> reached(played));
        final List<Step> steps = history.steps();
        for (int i = 0; i < steps.size(); i++) {
            final Step step = steps.get(i);
            if (step.kind() == Kind.CLOSE) {
                store = close(played, store, i);
                continue;
            }
            if (step.kind() == Kind.KILL) {
                pointsLeft = Math.floorMod(step.seed(), 200);
            } else {
                played.take(step);
            }
            if (killedAt != null || step.kind() == Kind.KILL && pointsLeft == 0) {
                final KeptStore left = killedAt == null ? store.kept().copy() : killedAt;
                killedInside += killedAt == null ? 0 : 1;
                store = killed(played, left, new Random(step.seed()), i);
            }
        }
        bytesAtEnd = close(played, store, steps.size()).kept().checksum();
    }

    /** At a named point: decides whether the process ends here. */
    private void reached(StoreHistory played) {
        pointsReached++;
        if (pointsLeft > 0 && --pointsLeft == 0) {
            killedAt = played.store().kept().copy();
            played.kill();
        }
    }

    private SteppedStore close(StoreHistory played, SteppedStore store, int step) {
        pointsLeft = 0;
        store.cluster().close();
        played.checkpointed();
        killedAt = null;
        assertThat(store.cluster().errors().distinct()).isEmpty();
        return start(played, store.kept(), step);
    }

    private SteppedStore killed(StoreHistory played, KeptStore left, Random random, int step) {
        pointsLeft = 0;
        killedAt = null;
        if (history.shape().level() == Durability.POWER && random.nextBoolean()) {
            left.cutPower(random);
        }
        return start(played, left, step);
    }

    /** Starts the remaining bytes in several ways, and continues with the first start. */
    private SteppedStore start(StoreHistory played, KeptStore left, int step) {
        final ComparedStarts starts = new ComparedStarts(played, left, step + 2);
        if (starts.isFromCheckpoint()) {
            startsFromCheckpoints++;
            withClears += starts.state().sizes().get(1) > 0 ? 1 : 0;
            withSessions += starts.state().sizes().get(3) > 0 ? 1 : 0;
        }
        played.goOn(starts.next());
        return starts.next();
    }

    /** Starts that loaded a checkpoint. */
    int startsFromCheckpoints() {
        return startsFromCheckpoints;
    }

    /** Of those, starts with clears. */
    int withClears() {
        return withClears;
    }

    /** Of those, starts with sessions and answers. */
    int withSessions() {
        return withSessions;
    }

    /** Kills inside a step. */
    int killedInside() {
        return killedInside;
    }

    /** Fingerprint of this run: the bytes at its end, and the number of named points reached. */
    List<Long> trace() {
        return List.of(bytesAtEnd, pointsReached);
    }
}
