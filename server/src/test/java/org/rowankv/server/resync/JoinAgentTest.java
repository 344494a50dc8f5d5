package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.digest.CopyReserve;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.digest.LandingPosition;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/** Which replica is complete, when the copies of several have landed and the digest is behind. */
@Tag("mocked")
final class JoinAgentTest {
    private static final int SHARDS = 4;
    private static final int EPOCH = 6;

    private final DigestAgent digest = mock(DigestAgent.class);
    private final @Nullable ShardReplica[] joining = new @Nullable ShardReplica[SHARDS];
    private final List<Integer> complete = new ArrayList<>();
    private final List<Integer> released = new ArrayList<>();
    private final SortedMap<Integer, Integer> reported = new TreeMap<>();
    private long landed;
    private long digested;
    private JoinAgent agent;

    private final class Listener implements CopyListener {
        @Override
        public boolean announced(int shard, int epoch, int server, long bytes, BitSet destroyed) {
            throw new AssertionError("by a primary");
        }

        @Override
        public boolean copied(int shard, int epoch, int server) {
            throw new AssertionError("by a primary");
        }

        @Override
        public Inquiry ask(int server, int shard, int epoch, ByteBuffer question) {
            throw new AssertionError("nothing is reclaimed");
        }

        @Override
        public boolean joined(int server, SortedMap<Integer, Integer> epochs) {
            reported.putAll(epochs);
            return false;
        }
    }

    @BeforeEach
    void join() {
        for (int shard = 0; shard < SHARDS; shard++) {
            joining[shard] = joining(shard);
        }
        when(digest.reserve()).thenReturn(mock(CopyReserve.class));
        when(digest.landed()).thenAnswer(call -> LandingPosition.of(landed, 0));
        when(digest.isDigested(any()))
                .thenAnswer(call -> call.getArgument(0, LandingPosition.class).ordinal(0) <= digested);
        doAnswer(call -> released.add(call.getArgument(0))).when(digest).joined(anyInt());
        final Segments segments = mock(Segments.class, RETURNS_DEEP_STUBS);
        when(segments.former().isEmpty()).thenReturn(true);
        agent = new JoinAgent(
                2,
                digest,
                segments,
                new Replicas(joining),
                mock(CurrentRoles.class),
                new Listener(),
                SystemClock.INSTANCE,
                new ErrorLog(SystemClock.INSTANCE));
    }

    private ShardReplica joining(int shard) {
        final ShardReplica replica = mock(ShardReplica.class);
        when(replica.shardId()).thenReturn(shard);
        when(replica.tenure()).thenReturn(EPOCH);
        when(replica.isJoining()).thenAnswer(call -> !complete.contains(shard));
        when(replica.joined(anyInt())).thenAnswer(call -> {
            complete.add(shard);
            return 0;
        });
        return replica;
    }

    private void copied(int shard) {
        landed++;
        assertThat(agent.copied(shard, EPOCH)).isTrue();
        final int unused = agent.doWork();
    }

    private void digested(long until) {
        digested = until;
        assertThat(agent.doWork()).isPositive();
        assertThat(released).isEqualTo(complete);
        assertThat(complete).containsAll(reported.keySet());
    }

    /** Whatever their order: one in the middle, with others on either side of it that wait longer. */
    @Test
    void shouldCompleteTheReplicaWhoseCopyIsDigested() {
        copied(1);
        copied(0);
        copied(2);
        copied(3);
        digested(1);
        assertThat(complete).containsExactly(1);
        digested(3);
        assertThat(complete).containsExactly(1, 0, 2);
        digested(4);
        assertThat(complete).containsExactly(1, 0, 2, 3);
        assertThat(reported).containsOnlyKeys(0, 1, 2, 3);
    }
}
