package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;

/**
 * Three starts of what a history has left: with the checkpoints, with them once more, and without them. Requires that the first two
 * find the same, that they find all that the third finds, and that nothing is wrong in any of them.
 */
final class ComparedStarts {
    private static final int MOST_TURNS = 500;

    /**
     * So long before its time a start opens: no lifetime is over then. A start that waits gives the agents turns, and for want of
     * space one of them would end what has expired, in this start and not in the other.
     */
    private static final long BEFORE_ANY_END_MS = 3_600_000;

    private final StoreHistory history;
    private final TurnedStore next;
    private final StoreState state;

    /**
     * @param left its bytes; the first start goes on with them
     * @param seed of all random decisions of these starts
     */
    ComparedStarts(StoreHistory history, KeptStore left, long seed) {
        this.history = history;
        final KeptStore again = left.copy();
        final KeptStore bare = left.withoutCheckpoints();
        this.next = open(left, seed);
        this.state = StoreState.atStart(next.cluster(), history.closed());
        final TurnedStore whole = open(bare, seed);
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

    /** The first start, at rest. */
    TurnedStore next() {
        return next;
    }

    /** What it found, before any agent had a turn. */
    StoreState state() {
        return state;
    }

    boolean isFromCheckpoint() {
        return next.cluster().checkpoints().loaded() > 0;
    }

    private TurnedStore open(KeptStore left, long seed) {
        final TurnedStore former = history.store();
        final TurnedStore opened = TurnedStore.open(
                former.cluster().settings(),
                left,
                former.clock().nanoTime(),
                former.clock().wallMs() - BEFORE_ANY_END_MS,
                seed);
        requireCompleteReplicas(opened);
        return opened;
    }

    /** Nothing was damaged. A start that finds damage all the same makes that server's replicas anew, from others. */
    private static void requireCompleteReplicas(TurnedStore opened) {
        final Configuration configuration = opened.cluster().configuration();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            assertThat(configuration.shard(shard).joining())
                    .as("servers with a replica of shard %d that is not complete", shard)
                    .isEmpty();
        }
    }

    /** The agents of a start find nothing that is wrong, and the replicas agree. */
    private void requireRest(TurnedStore store) {
        store.settle();
        assertThat(store.cluster().errors().distinct()).isEmpty();
        StoreState.of(store.cluster(), history.closed()).requireAgreement();
        requireExactSpace(store);
    }

    /** What is taken is what lives, once no segment is half cleaned. */
    private static void requireExactSpace(TurnedStore store) {
        store.cluster().releaseGrants();
        for (Server server : store.cluster().servers()) {
            for (int turns = 0; turns < MOST_TURNS && taken(server) != new LiveBytes(server).count(); turns++) {
                store.turns().turn(1);
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
