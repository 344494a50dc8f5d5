package org.rowankv.server.embedded;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Machine;

/**
 * An open store that one thread uses and turns, over bytes that outlive it. It is killed by going on with a copy of those bytes: then
 * nothing turns it any more.
 *
 * @param cluster the store
 * @param kept its bytes
 * @param turns its agents
 * @param clock of all its servers
 */
public record TurnedStore(EmbeddedCluster cluster, KeptStore kept, OneThread turns, ManualClock clock) {
    private static final int MOST_ROUNDS = 2_000;

    /**
     * Opens what was left. Sessions of clients go on. After this no agent has had a turn, unless the start itself waits.
     *
     * @param seed of all random decisions of this start
     */
    public static TurnedStore open(EmbeddedSettings settings, KeptStore kept, long nowNs, long wallMs, long seed) {
        final ManualClock clock = new ManualClock(nowNs, wallMs);
        final OneThread turns = new OneThread(clock, seed);
        return new TurnedStore(
                EmbeddedCluster.open(settings, surroundings(clock, turns, kept, seed)), kept, turns, clock);
    }

    /** Opens a store in a directory, in the same way. */
    static EmbeddedCluster openFiles(EmbeddedSettings settings, long nowNs, long wallMs, long seed) {
        final ManualClock clock = new ManualClock(nowNs, wallMs);
        return EmbeddedCluster.open(settings, surroundings(clock, new OneThread(clock, seed), null, seed));
    }

    private static EmbeddedContext surroundings(
            ManualClock clock, OneThread turns, EmbeddedContext.@Nullable Memories kept, long seed) {
        return new EmbeddedContext(
                server -> clock,
                new SplittableRandomSource(seed),
                turns,
                UnaryOperator.identity(),
                kept,
                Machine.PRESENT,
                usual -> {},
                1,
                false);
    }

    /** Goes on with a checkpoint of every server until each has taken another one. */
    void takeCheckpoints() {
        final long enough = cluster.checkpoints().taken() + cluster.servers().size();
        clock.advanceMs(cluster.settings().checkpointIntervalMs());
        for (int rounds = 0; cluster.checkpoints().taken() < enough && rounds < MOST_ROUNDS; rounds++) {
            turns.turnCheckpoints();
            turns.turn(1);
        }
    }

    /** Whatever has landed or is swept takes effect. */
    void settle() {
        cluster.awaitDigested();
    }
}
