package org.rowankv.server.embedded;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Machine;

/**
 * An open store that one thread uses and runs, over bytes that outlive it. A kill continues with a copy of those bytes:
 * then nothing runs the store any more.
 *
 * @param cluster the store
 * @param kept its bytes
 * @param agents its agents
 * @param clock of all its servers
 */
public record SteppedStore(EmbeddedCluster cluster, KeptStore kept, OneThread agents, ManualClock clock) {
    private static final int MOST_ROUNDS = 2_000;

    /**
     * Opens existing bytes. Sessions of clients continue. After this no agent has run, unless the start itself waits.
     *
     * @param seed of all random decisions of this start
     */
    public static SteppedStore open(EmbeddedSettings settings, KeptStore kept, long nowNs, long wallMs, long seed) {
        final ManualClock clock = new ManualClock(nowNs, wallMs);
        final OneThread agents = new OneThread(clock, seed);
        return new SteppedStore(
                EmbeddedCluster.open(settings, context(clock, agents, kept, seed)), kept, agents, clock);
    }

    /** Opens a store in a directory, in the same way. */
    static EmbeddedCluster openFiles(EmbeddedSettings settings, long nowNs, long wallMs, long seed) {
        final ManualClock clock = new ManualClock(nowNs, wallMs);
        return EmbeddedCluster.open(settings, context(clock, new OneThread(clock, seed), null, seed));
    }

    private static EmbeddedContext context(
            ManualClock clock, OneThread agents, EmbeddedContext.@Nullable Memories kept, long seed) {
        return new EmbeddedContext(
                server -> clock,
                new SplittableRandomSource(seed),
                agents,
                UnaryOperator.identity(),
                kept,
                Machine.PRESENT,
                usual -> {},
                1,
                false);
    }

    /** Runs until every server has taken another checkpoint. */
    void takeCheckpoints() {
        final long enough = cluster.checkpoints().taken() + cluster.servers().size();
        clock.advanceMs(cluster.settings().checkpointIntervalMs());
        for (int rounds = 0; cluster.checkpoints().taken() < enough && rounds < MOST_ROUNDS; rounds++) {
            agents.stepCheckpoints();
            agents.step(1);
        }
    }

    /** Runs until all landed or swept entries have taken effect. */
    void settle() {
        cluster.awaitDigested();
    }
}
