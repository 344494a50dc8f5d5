package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
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

/**
 * The space that an entry of server 0 takes at its backups when other roles come into force between the moment at which
 * it is acquired and that at which the entry begins to be sent.
 */
final class CreditAcrossRolesTest {
    private static final int SHARD = 0;
    private static final int VALUE = 200;

    private final ScriptedServers servers = new ScriptedServers();
    private final Configuration first = RolesOfOne.configuration(1, 1, 2);
    private final CurrentRoles roles = RolesOfOne.current(
            List.of(new ShardPrimary(new LoggedServer(0).start().replicas().get(SHARD), new VersionCounter(1))), 1, 2);
    private final ByteBuffer memory = AlignedBuffers.allocate(4 << 10, 64);
    private final RowanReplicator replicator = new RowanReplicator(
            MemoryRegion.of(memory),
            new BackupConnections(
                    servers, roles.get(), new ManualClock(), new ErrorLog(new ManualClock()), server -> {}),
            roles,
            1024,
            64 << 10,
            CounterStarts.USUAL);
    private final Replication entry = replicator.newReplication();
    private int usedLength;

    private void write(long version, boolean withoutSpace) {
        final EntryDraft draft = new EntryDraft().begin(EntryType.PUT, SHARD, 1).value(new byte[VALUE], 0, VALUE);
        if (withoutSpace) {
            draft.withoutSpace();
        }
        draft.version(version);
        usedLength = (int) draft.usedLength();
        FrameDescriptor.source(
                memory, 0, EntryDescriptor.aligned(usedLength), EntryType.PUT, draft.writeBody(memory, 0));
    }

    private void replace(Configuration next) {
        RolesOfOne.replace(roles, next);
    }

    private void sendWhole() {
        entry.begin(SHARD, 0);
        finish();
    }

    private void finish() {
        for (int server : roles.get().backups(SHARD)) {
            assertThat(entry.advance()).isFalse();
            servers.to(server).acknowledge(1);
        }
        replicator.poll();
        assertThat(entry.advance()).isTrue();
        replicator.releaseCredit();
    }

    private long cost() {
        return replicator.creditOf(usedLength);
    }

    @Test
    void shouldOweWhatTheNewBackupsDidNotGrantAndKeepWhatTheFormerDid() {
        write(Version.of(2, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).as("nothing was sent there").isZero();
    }

    @Test
    void shouldRepayWithTheNextEntry() {
        write(Version.of(2, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        entry.begin(SHARD, 0);
        assertThat(entry.advance()).isFalse();
        assertThat(servers.to(3).granted()).isZero();
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        assertThat(servers.to(3).granted()).isGreaterThanOrEqualTo(2 * cost());
        entry.returnCredit();
        replicator.releaseCredit();
        assertThat(servers.to(3).granted()).isEqualTo(cost());
    }

    /** A joining backup takes the space of older entries when they land: most of them are copied. */
    @Test
    void shouldNotOweForAnEntryFromBeforeTheTenure() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isZero();
    }

    /** Its roles are in force, and the version counter has not followed yet. */
    @Test
    void shouldKeepWhatAJoiningBackupGrantedForAnEntryFromBeforeTheTenure() {
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isZero();
    }

    /** An error may strike in between. */
    @Test
    void shouldSettleOnceWhenAnEntryBeginsAgain() {
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.begin(SHARD, 0);
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isZero();
    }

    @Test
    void shouldKeepWhatABackupGrantedThatLeavesAndComesBack() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        final Configuration second = RolesOfOne.changed(first, Set.of(), 1);
        replace(second);
        replace(RolesOfOne.changed(second, Set.of(2), 1, 2));
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).isZero();
    }

    /** Another epoch follows before it begins: the backup counts it, for it is of its tenure. */
    @Test
    void shouldOweForAnEntryOfAnEarlierEpochOfTheTenure() {
        write(Version.of(2, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        final Configuration second = RolesOfOne.changed(first, Set.of(3), 1, 3);
        replace(second);
        replace(RolesOfOne.changed(second, Set.of(3), 1, 3));
        sendWhole();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isEqualTo(cost());
    }

    @Test
    void shouldNotOweForAnEntryWithoutSpace() {
        write(Version.of(2, 1), true);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        sendWhole();
        assertThat(servers.to(1).granted()).isZero();
        assertThat(servers.to(3).granted()).isZero();
    }

    /** Nothing of the entry was sent there, and nothing will be. */
    @Test
    void shouldKeepWhatABackupGrantedThatLeavesBeforeTheEntryIsSentThere() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.begin(SHARD, 0);
        replace(RolesOfOne.changed(first, Set.of(), 1));
        finish();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).isZero();
    }

    /** The backup voids it, with its space. */
    @Test
    void shouldNotKeepWhatABackupGrantedThatLeavesWhenTheEntryMayHaveLandedThere() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.begin(SHARD, 0);
        assertThat(entry.advance()).isFalse();
        replace(RolesOfOne.changed(first, Set.of(), 1));
        finish();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).isEqualTo(cost());
    }

    @Test
    void shouldKeepWhatABackupGrantedThatLeavesAndComesBackBeforeTheEntryIsSentThere() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.begin(SHARD, 0);
        final Configuration second = RolesOfOne.changed(first, Set.of(), 1);
        replace(second);
        replace(RolesOfOne.changed(second, Set.of(2), 1, 2));
        finish();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).as("it takes the space by itself").isZero();
    }

    @Test
    void shouldKeepNothingOfAnEntryWithoutSpaceThatIsNotSent() {
        write(Version.of(1, 6), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        sendWhole();
        write(Version.of(1, 7), true);
        entry.begin(SHARD, 0);
        replace(RolesOfOne.changed(first, Set.of(), 1));
        finish();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).isEqualTo(cost());
    }

    @Test
    void shouldKeepOnceWhatAnErrorInterrupts() {
        write(Version.of(1, 7), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.begin(SHARD, 0);
        final int most = IntStream.iterate(32 << 10, each -> each - 1)
                .filter(each -> replicator.creditOf(each) <= 32 << 10)
                .findFirst()
                .orElseThrow();
        final Replication second = replicator.newReplication();
        assertThat(second.acquireCredit(SHARD, most)).isEqualTo(-1);
        final Replication third = replicator.newReplication();
        assertThat(third.acquireCredit(SHARD, most)).isEqualTo(-1);
        second.returnCredit(); // almost two portions are held now
        servers.to(2).failAtReturn();

        replace(RolesOfOne.changed(first, Set.of(), 1));
        assertThatThrownBy(entry::advance).hasMessageContaining("planned");
        entry.interrupted();
        finish();
        third.returnCredit();
        replicator.releaseCredit();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).isZero();
    }

    /** An error has prevented that it was returned; the next entry has none. */
    @Test
    void shouldNotTakeTheCreditOfAnotherEntryForThatOfOneWithoutSpace() {
        write(Version.of(2, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        write(Version.of(2, 2), true);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        sendWhole();
        assertThat(servers.to(3).granted()).isZero();
        assertThat(servers.to(2).granted()).isEqualTo(cost());
    }

    /** Another entry acquires its own in between, in other roles. */
    @Test
    void shouldSettleEachEntryByTheRolesInWhichItWasAdmitted() {
        write(Version.of(2, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        final Replication other = replicator.newReplication();
        assertThat(other.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        sendWhole();
        other.returnCredit();
        replicator.releaseCredit();
        assertThat(servers.to(1).granted()).isEqualTo(cost());
        assertThat(servers.to(3).granted()).isEqualTo(cost());
        assertThat(servers.to(2).granted()).as("nothing was sent there").isZero();
    }

    @Test
    void shouldReturnWhatWasNotUsedToThoseThatGrantedIt() {
        write(Version.of(1, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        replace(RolesOfOne.changed(first, Set.of(3), 1, 3));
        entry.returnCredit();
        replicator.releaseCredit();
        assertThat(servers.to(1).granted()).isZero();
        assertThat(servers.to(2).granted()).isZero();
        assertThat(servers.isConnected(3)).isFalse();
    }

    @Test
    void shouldReturnTheCreditOfAnIdleWorkerInTheTermInForce() {
        breakWhileIdle();
        replicator.releaseCredit();
        assertThat(grantedBy(1)).isZero();
        assertThat(servers.all(2)).as("another incarnation has granted nothing").hasSize(1);
    }

    @Test
    void shouldReturnTheSpareCreditOfAWorkerInTheTermInForce() {
        breakWhileIdle();
        replicator.releaseSpareCredit();
        assertThat(grantedBy(1)).isZero();
        assertThat(servers.all(2)).as("another incarnation has granted nothing").hasSize(1);
    }

    /** Connections break, one backup's process is another one, and no entry begins after that. */
    private void breakWhileIdle() {
        write(Version.of(1, 1), false);
        assertThat(entry.acquireCredit(SHARD, usedLength)).isEqualTo(-1);
        entry.returnCredit();
        servers.to(1).fence();
        servers.to(2).fence();
        replace(RolesOfOne.returned(first, 2));
    }

    private long grantedBy(int server) {
        return servers.all(server).stream()
                .mapToLong(ScriptedServers.Pair::granted)
                .sum();
    }
}
