package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.log.CommitVector;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

@Tag("mocked")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class CommitAgentTest {
    private static final int SHARDS = 5;
    private static final int BACKUP = 1;
    private static final int OTHER = 2;
    private static final int NO_SHARD = -1;
    private static final int PAIRS_PER_MESSAGE = 2;

    private final ManualClock clock = new ManualClock();
    private final long[] commitVersions = new long[SHARDS];
    private final Map<Integer, Long> landed = new HashMap<>();
    private final Map<Integer, Long> underWay = new HashMap<>();
    private final CurrentRoles roles;
    private final CommitAgent agent;
    private long context;
    private boolean holdsBack;
    private int status = CompletionStatus.LANDED;

    CommitAgentTest() {
        final List<ShardPrimary> primaries = new ArrayList<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            primaries.add(primary(shard));
        }
        final QueuePair pair = mock(QueuePair.class);
        when(pair.send(anyLong(), any(), anyInt(), anyInt(), anyInt())).thenAnswer(call -> {
            context = call.getArgument(0);
            final ByteBuffer entry = call.getArgument(1);
            final int at = call.getArgument(2);
            for (int i = 0; i < CommitVector.count(entry, at); i++) {
                underWay.put(CommitVector.shard(entry, at, i), CommitVector.version(entry, at, i));
            }
            return PostStatus.POSTED;
        });
        when(pair.poll(any(), anyInt())).thenAnswer(call -> {
            if (underWay.isEmpty() || holdsBack) {
                return 0;
            }
            if (status == CompletionStatus.LANDED) {
                landed.putAll(underWay);
            }
            underWay.clear();
            final CompletionHandler handler = call.getArgument(0);
            handler.onCompletion(context, status);
            return 1;
        });
        final BackupConnections links = mock(BackupConnections.class);
        when(links.pair(BACKUP)).thenReturn(pair);
        roles = RolesOfOne.current(primaries, BACKUP);
        agent = new CommitAgent(
                roles,
                mock(InFlightWindow.class),
                links,
                EntryDescriptor.FIXED_LENGTH + CommitVector.length(PAIRS_PER_MESSAGE),
                clock);
    }

    private ShardPrimary primary(int shard) {
        final ShardReplica replica = mock(ShardReplica.class);
        when(replica.shardId()).thenReturn(shard);
        when(replica.changes()).thenReturn(mock(ShardChanges.class));
        when(replica.commitVersion()).thenAnswer(call -> commitVersions[shard]);
        final ShardPrimary primary = mock(ShardPrimary.class);
        when(primary.replica()).thenReturn(replica);
        when(primary.versions()).thenReturn(mock(VersionCounter.class));
        return primary;
    }

    private void run() {
        clock.advanceMs(10);
        agent.doWork();
    }

    private void runUntilQuiet() {
        for (int cycles = 0; cycles < 100 && !agent.isQuiet(); cycles++) {
            run();
        }
        assertThat(agent.isQuiet()).isTrue();
    }

    /**
     * The content of a record that did not land must not count as acknowledged when the next record lands, which has no
     * room for it.
     */
    @Test
    void shouldTellEachBackupEverythingWhateverDidNotLand() {
        for (long version = 1; version < 50; version++) {
            commitVersions[1] = version;
            commitVersions[2] = version;
            status = CompletionStatus.FENCED;
            run();
            commitVersions[0] = version;
            commitVersions[3] = version;
            status = CompletionStatus.LANDED;
            runUntilQuiet();
            assertThat(landed)
                    .containsExactlyInAnyOrderEntriesOf(Map.of(0, version, 1, version, 2, version, 3, version));
            run();
        }
    }

    @Test
    void shouldGetRoundToAllWhereSomeAlwaysHaveNews() {
        commitVersions[4] = 7;
        for (int cycles = 0; cycles < 10 && !landed.containsKey(4); cycles++) {
            for (int shard = 0; shard < 4; shard++) {
                commitVersions[shard]++;
            }
            run();
        }
        assertThat(landed).containsEntry(4, 7L);
    }

    /** R9: the next incarnation finds in its area what its own scan believes, and knows no CommitVer by itself. */
    @Test
    void shouldTellAnotherIncarnationEverythingAgain() {
        Arrays.fill(commitVersions, 5);
        runUntilQuiet();
        landed.clear();
        RolesOfOne.replace(roles, RolesOfOne.returned(roles.get().configuration(), BACKUP));
        run();
        run(); // a computation is due
        runUntilQuiet();
        assertThat(landed).hasSize(SHARDS);
    }

    /** A record that was under way when the epoch changed reached a replica that is void now. */
    @Test
    void shouldTellABackupOfAnotherEpochEverythingAgain() {
        Arrays.fill(commitVersions, 5);
        holdsBack = true;
        run();
        final Configuration without = RolesOfOne.changed(roles.get().configuration(), Set.of(), OTHER);
        RolesOfOne.replace(roles, without);
        RolesOfOne.replace(roles, RolesOfOne.changed(without, Set.of(BACKUP), BACKUP));
        assertThat(underWay).as("the record of the former epoch").isNotEmpty();
        underWay.clear();
        underWay.put(NO_SHARD, 0L);
        holdsBack = false;
        run();
        runUntilQuiet();
        landed.remove(NO_SHARD);
        assertThat(landed).hasSize(SHARDS);
    }
}
