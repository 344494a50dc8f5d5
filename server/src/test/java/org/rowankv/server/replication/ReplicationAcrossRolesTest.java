package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

/** An entry of server 0 that is under way to its backups 1 and 2 while other roles come into force. */
final class ReplicationAcrossRolesTest {
    private static final int SHARD = 0;
    private static final int BLOCKS = 3;

    private final ScriptedServers servers = new ScriptedServers();
    private final Configuration first = RolesOfOne.configuration(1, 1, 2);
    private final CurrentRoles roles = RolesOfOne.current(
            List.of(new ShardPrimary(new LoggedServer(0).start().replicas().get(SHARD), new VersionCounter(1))), 1, 2);
    private final RowanReplicator replicator = new RowanReplicator(
            MemoryRegion.of(entryOfThreeBlocks()),
            new BackupConnections(
                    servers, roles.get(), new ManualClock(), new ErrorLog(new ManualClock()), server -> {}),
            roles,
            1024,
            64 << 10,
            CounterStarts.USUAL);
    private final Replication entry = replicator.newReplication();

    private static ByteBuffer entryOfThreeBlocks() {
        final ByteBuffer memory = AlignedBuffers.allocate(4 << 10, 64);
        final EntryDraft draft = new EntryDraft().begin(EntryType.PUT, SHARD, 1).value(new byte[2_500], 0, 2_500);
        final int length = EntryDescriptor.aligned((int) draft.usedLength());
        FrameDescriptor.source(memory, 0, length, EntryType.PUT, draft.writeBody(memory, 0));
        return memory;
    }

    private boolean advance() {
        replicator.poll();
        return entry.advance();
    }

    /** All blocks are sent to 1 and 2. */
    private void begin() {
        entry.begin(SHARD, 0);
        assertThat(advance()).isFalse();
        assertThat(servers.to(1).tags()).containsExactly(1, 1, 1);
        assertThat(servers.to(2).tags()).containsExactly(1, 1, 1);
    }

    private void replace(Configuration next) {
        RolesOfOne.replace(roles, next);
    }

    @AfterEach
    void close() {
        replicator.close();
    }

    /** R9: what the dead one holds, the one that runs now may not have found. */
    @Test
    void shouldNotCountWhatAFormerIncarnationOfABackupAcknowledged() {
        begin();
        servers.to(1).acknowledge(BLOCKS);
        assertThat(advance()).as("2 has not acknowledged").isFalse();

        replace(RolesOfOne.returned(first, 1));
        servers.to(2).acknowledge(BLOCKS);
        assertThat(advance())
                .as("only a former incarnation of 1 has acknowledged")
                .isFalse();
        assertThat(servers.to(1).incarnation()).isEqualTo(2);
        assertThat(servers.to(1).tags()).as("from the first block on").hasSize(BLOCKS);
        assertThat(servers.to(2).tags()).as("it holds all").hasSize(BLOCKS);

        servers.to(1).acknowledge(BLOCKS);
        assertThat(advance()).isTrue();
    }

    @Test
    void shouldBeginAgainWithAnIncarnationWhoseFormerOneHoldsAPart() {
        begin();
        servers.to(1).acknowledge(2);
        assertThat(advance()).isFalse();
        final ScriptedServers.Pair former = servers.to(1);

        replace(RolesOfOne.returned(first, 1));
        assertThat(advance()).isFalse();
        assertThat(former.isClosed()).isTrue();
        assertThat(servers.to(1).tags()).hasSize(BLOCKS);

        former.acknowledge(1); // too late
        servers.to(2).acknowledge(BLOCKS);
        servers.to(1).acknowledge(BLOCKS - 1);
        assertThat(advance()).isFalse();
        servers.to(1).acknowledge(1);
        assertThat(advance()).isTrue();
    }

    /** R32: a mutation begun before the change is on every replica of the new set before it is acknowledged. */
    @Test
    void shouldGoToABackupThatCameMeanwhileAndNotAwaitTheOneThatLeft() {
        begin();
        servers.to(1).acknowledge(BLOCKS);
        assertThat(advance()).isFalse();

        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        assertThat(advance()).as("3 has not acknowledged").isFalse();
        assertThat(servers.to(3).tags())
                .as("a joiner's tenure begins with the new epoch")
                .containsExactly(2, 2, 2);
        assertThat(servers.to(1).tags()).hasSize(BLOCKS);
        servers.to(3).acknowledge(BLOCKS);
        assertThat(advance()).as("2 is no backup any more").isTrue();
    }

    @Test
    void shouldNotResendToABackupThatStays() {
        begin();
        servers.to(1).acknowledge(1);
        assertThat(advance()).isFalse();
        replace(RolesOfOne.changed(first, Set.of(), 1));
        servers.to(1).acknowledge(BLOCKS - 1);
        assertThat(advance()).isTrue();
        assertThat(servers.to(1).tags()).hasSize(BLOCKS);
    }

    /** R3: a backup that left has voided its entries, even if it is back before the sender looks. */
    @Test
    void shouldSendAllAgainToABackupThatLeftAndCameBackUnseen() {
        begin();
        servers.to(1).acknowledge(BLOCKS);
        servers.to(2).acknowledge(BLOCKS - 1);
        assertThat(advance()).isFalse();

        final Configuration without = RolesOfOne.changed(first, Set.of(), 2);
        replace(without);
        replace(RolesOfOne.changed(without, Set.of(1), 1, 2));
        servers.to(2).acknowledge(1);
        assertThat(advance()).isFalse();
        assertThat(servers.to(1).tags()).containsExactly(1, 1, 1, 3, 3, 3);
    }

    /** Its backups acknowledge to that primary, and this server may be one of them. */
    @Test
    void shouldNeverBeCompleteWhenAnotherServerIsThePrimary() {
        begin();
        servers.to(1).acknowledge(BLOCKS);
        assertThat(advance()).isFalse();
        replace(RolesOfOne.without(first, SHARD)); // to 1, with the backups 0 and 2
        servers.to(2).acknowledge(BLOCKS);
        assertThat(advance()).isFalse();
        assertThat(servers.isConnected(0)).isFalse();
        assertThat(servers.to(2).tags()).as("nothing in the new epoch").containsOnly(1);
    }

    @Test
    void shouldSendNothingOfAShardThatHasLeftBeforeItBegins() {
        replace(RolesOfOne.without(first, SHARD));
        entry.begin(SHARD, 0);
        assertThat(advance()).isFalse();
        assertThat(servers.isConnected(1)).isFalse();
        assertThat(servers.isConnected(2)).isFalse();
    }

    /** Otherwise a backup keeps it for an entry that is not written. */
    @Test
    void shouldReturnCreditToTheBackupsThatGrantedIt() {
        assertThat(entry.acquireCredit(SHARD, 100)).isEqualTo(-1);
        replace(RolesOfOne.without(first, SHARD));
        entry.returnCredit();
        replicator.releaseCredit();
        assertThat(servers.to(1).granted()).isZero();
        assertThat(servers.to(2).granted()).isZero();
        assertThat(servers.isConnected(0)).isFalse();
    }

    /** The other incarnation's space is another one: what the former granted would be missing there. */
    @Test
    void shouldAcquireCreditAgainOfAnotherIncarnation() {
        assertThat(entry.acquireCredit(SHARD, 100)).isEqualTo(-1);
        assertThat(servers.to(1).granted()).as("a portion").isGreaterThan(10_000);
        replace(RolesOfOne.returned(first, 1));
        assertThat(entry.acquireCredit(SHARD, 100)).isEqualTo(-1);
        assertThat(servers.to(1).incarnation()).isEqualTo(2);
        assertThat(servers.to(1).granted()).isGreaterThan(10_000);
    }
}
