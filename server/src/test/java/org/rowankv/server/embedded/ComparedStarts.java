package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;

/**
 * Three starts of the bytes of a history: with the checkpoints, with them again, and without them. The first two must
 * find the same, and all that the third finds, and no start may report damage.
 */
final class ComparedStarts {
    private static final int MOST_STEPS = 500;

    /**
     * Each start opens this long before the present, when no lifetime is over. A waiting start runs agents, which could
     * end expired objects for lack of space in this start only.
     */
    private static final long BEFORE_ANY_END_MS = 3_600_000;

    private final StoreHistory history;
    private final SteppedStore next;
    private final StoreState state;

    /**
     * @param left the remaining bytes; the first start continues with them
     * @param seed of all random decisions of these starts
     */
    ComparedStarts(StoreHistory history, KeptStore left, long seed) {
        this.history = history;
        final KeptStore again = left.copy();
        final KeptStore bare = left.withoutCheckpoints();
        this.next = open(left, seed);
        this.state = StoreState.atStart(next.cluster(), history.closed());
        final SteppedStore whole = open(bare, seed);
        final StoreState expected = StoreState.atStart(whole.cluster(), history.closed());
        assertThat(whole.cluster().checkpoints().loaded()).isZero();
        state.requireAsGoodAs(expected, history.unanswered());
        expected.requireClosed(history.closedLately(), expected);
        state.requireClosed(history.closedLately(), expected);
        assertThat(StoreState.atStart(open(again, seed).cluster(), history.closed()))
                .isEqualTo(state);
        next.clock().skew(BEFORE_ANY_END_MS);
        whole.clock().skew(BEFORE_ANY_END_MS);
        requireRest(next);
        requireRest(whole);
    }

    /** The first start, after its agents are idle. */
    SteppedStore next() {
        return next;
    }

    /** What it found, before any agent ran. */
    StoreState state() {
        return state;
    }

    boolean isFromCheckpoint() {
        return next.cluster().checkpoints().loaded() > 0;
    }

    private SteppedStore open(KeptStore left, long seed) {
        final SteppedStore former = history.store();
        final SteppedStore opened = SteppedStore.open(
                former.cluster().settings(),
                left,
                former.clock().nanoTime(),
                former.clock().wallMs() - BEFORE_ANY_END_MS,
                seed);
        requireCompleteReplicas(opened);
        return opened;
    }

    /** No damage is expected. A start that finds damage copies that server's replicas from others. */
    private static void requireCompleteReplicas(SteppedStore opened) {
        final Configuration configuration = opened.cluster().configuration();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            assertThat(configuration.shard(shard).joining())
                    .as("servers with a replica of shard %d that is not complete", shard)
                    .isEmpty();
        }
    }

    /** The agents of a start report no error, and the replicas agree. */
    private void requireRest(SteppedStore store) {
        store.settle();
        assertThat(store.cluster().errors().distinct()).isEmpty();
        StoreState.of(store.cluster(), history.closed()).requireAgreement();
        requireExactSpace(store);
    }

    /** Space taken equals live bytes, once no segment is half cleaned. */
    private static void requireExactSpace(SteppedStore store) {
        store.cluster().releaseGrants();
        for (Server server : store.cluster().servers()) {
            for (int steps = 0; steps < MOST_STEPS && taken(server) != new LiveBytes(server).count(); steps++) {
                store.agents().step(1);
            }
            assertThat(taken(server))
                    .as("space taken on server %d", server.serverId())
                    .isEqualTo(new LiveBytes(server).count());
        }
    }

    private static long taken(Server server) {
        return server.segments().space().limit() - server.segments().space().available();
    }
}
