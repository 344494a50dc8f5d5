package org.rowankv.server.embedded;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.StoreHistory.Kind;
import org.rowankv.server.embedded.StoreHistory.Step;

/**
 * A random history of a random store, derived from one seed.
 *
 * @param shape of the store
 * @param steps in order
 */
record RandomHistory(Shape shape, List<Step> steps) {
    private static final int FEWEST_STEPS = 150;
    private static final int MOST_STEPS = 350;
    /** Such seeds of steps are close together, and their decisions often equal. */
    private static final int CLOSE = 100;

    private static final int INTERVAL_MS = 5;

    /** Shape of a store. */
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

        Durability level() {
            return level;
        }

        EmbeddedSettings settings() {
            return EmbeddedSettings.of(builder().andThen(with -> with.durability = level));
        }

        /** For a store in a directory. */
        EmbeddedSettings settings(Path dir) {
            return EmbeddedSettings.of(builder().andThen(with -> with.dir = dir));
        }

        private Consumer<EmbeddedSettings.Builder> builder() {
            return with -> {
                with.servers = servers;
                with.replicas = servers;
                with.shards = 3;
                with.workers = 2;
                with.segmentBytes = 64 << 10;
                with.capacityBytes = servers == 1 ? 18 << 16 : 26 << 16;
                with.maxMessage = 1024;
                with.scrubMibPerSecond = 0;
                with.checkpointIntervalMs = INTERVAL_MS;
            };
        }
    }

    static RandomHistory of(long seed) {
        // Close seeds of Random draw alike.
        final Random random = new Random(new SplittableRandom(seed).nextLong());
        final Shape shape = Shape.values()[random.nextInt(Shape.values().length)];
        // With every third seed the steps share few objects.
        final boolean close = Math.floorMod(seed, 3L) == 2;
        final List<Step> steps = new ArrayList<>();
        for (int left = FEWEST_STEPS + random.nextInt(MOST_STEPS - FEWEST_STEPS + 1); left > 0; left--) {
            final Kind kind = kind(random);
            steps.add(new Step(kind, close ? random.nextInt(2 * CLOSE) - CLOSE : random.nextInt()));
        }
        return new RandomHistory(shape, steps);
    }

    private static Kind kind(Random random) {
        int weight = 0;
        for (Kind kind : Kind.values()) {
            weight += weightOf(kind);
        }
        int drawn = random.nextInt(weight);
        for (Kind kind : Kind.values()) {
            drawn -= weightOf(kind);
            if (drawn < 0) {
                return kind;
            }
        }
        throw new AssertionError("weights that change");
    }

    private static int weightOf(Kind kind) {
        return switch (kind) {
            case PUT -> 30;
            case REMOVE, TOUCH, CHURN, CHECKPOINT_TURN -> 10;
            case OPEN_SESSION, CYCLES -> 6;
            case RETRY -> 5;
            case BURY -> 4;
            case CLEAR, CLOSE_SESSION, CHECKPOINT, KILL -> 3;
            case DESTROY, LIMIT, TIME -> 2;
            case CLOSE -> 1;
        };
    }
}
