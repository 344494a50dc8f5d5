package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RowanReplicatorTest {
    private static final int SHARD_OF_SERVER_0 = 0;

    /** A connection on which the answer to a credit request arrives later, or never. */
    private static final class SlowPair implements QueuePair {
        private boolean isFenced;
        private int returnCount;

        @Override
        public long acquireCredit(long requested) {
            return 0;
        }

        @Override
        public boolean awaitsCredit() {
            return true;
        }

        @Override
        public void returnCredit(long bytes) {
            returnCount++;
        }

        @Override
        public boolean isFenced() {
            return isFenced;
        }

        @Override
        public int send(long context, ByteBuffer source, int offset, int length, int tag) {
            return PostStatus.FENCED;
        }

        @Override
        public int poll(CompletionHandler handler, int limit) {
            return 0;
        }

        @Override
        public void useReserve() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int remoteServerId() {
            return 1;
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }

    private final CurrentRoles roles = new CurrentRoles(new Roles(
            0,
            Configuration.initial(1, 2, 2, 2, 2, List.of(1L, 1L)),
            shard -> new ShardPrimary(new LoggedServer(0).start().replicas().get(shard), new VersionCounter(1))));
    private final SlowPair pair = new SlowPair();
    private final Endpoint endpoint = new OneConnection(pair);

    private record OneConnection(QueuePair pair) implements Endpoint {
        @Override
        public ReceiveQueue receiveQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
            return pair;
        }

        @Override
        public int message(int remoteServerId, ByteBuffer message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int pollMessages(int limit) {
            return 0;
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }

    /** A connection that accepts everything, and acknowledges when and as the test decides. */
    private static final class ScriptedPair implements QueuePair {
        private final List<Integer> payloadStarts = new ArrayList<>();
        private final List<Long> contexts = new ArrayList<>();
        private final Deque<Integer> statuses = new ArrayDeque<>();

        @Override
        public long acquireCredit(long requested) {
            return requested;
        }

        @Override
        public boolean awaitsCredit() {
            return false;
        }

        @Override
        public void returnCredit(long bytes) {
            // Nothing is counted.
        }

        @Override
        public boolean isFenced() {
            return false;
        }

        @Override
        public int send(long context, ByteBuffer source, int offset, int length, int tag) {
            payloadStarts.add(BlockDescriptor.payloadStart(source, offset));
            contexts.add(context);
            return PostStatus.POSTED;
        }

        @Override
        public int poll(CompletionHandler handler, int limit) {
            int polled = 0;
            while (!statuses.isEmpty()) {
                handler.onCompletion(contexts.remove(0), statuses.poll());
                polled++;
            }
            return polled;
        }

        @Override
        public void useReserve() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int remoteServerId() {
            return 1;
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }

    /** Nothing that lands after a lost block counts: the blocks from that one on are sent again. */
    @Test
    void shouldSendAgainFromTheFirstBlockThatWasLost() {
        final ScriptedPair scripted = new ScriptedPair();
        final ByteBuffer memory = AlignedBuffers.allocate(4 << 10, 64);
        final EntryDraft draft =
                new EntryDraft().begin(EntryType.PUT, SHARD_OF_SERVER_0, 1).value(new byte[2_500], 0, 2_500);
        FrameDescriptor.source(
                memory,
                0,
                EntryDescriptor.aligned((int) draft.usedLength()),
                EntryType.PUT,
                draft.writeBody(memory, 0));
        final RowanReplicator replicator = new RowanReplicator(
                MemoryRegion.of(memory),
                new BackupConnections(
                        new OneConnection(scripted),
                        roles.get(),
                        SystemClock.INSTANCE,
                        new ErrorLog(SystemClock.INSTANCE),
                        server -> {}),
                roles,
                1024,
                64 << 10,
                CounterStarts.USUAL);
        final Replication replication = replicator.newReplication();
        replication.begin(SHARD_OF_SERVER_0, 0);
        assertThat(replication.advance()).isFalse();
        assertThat(scripted.payloadStarts).containsExactly(0, 960, 1920);

        scripted.statuses.addAll(List.of(CompletionStatus.LANDED, CompletionStatus.VOIDED, CompletionStatus.LANDED));
        replicator.poll();
        scripted.payloadStarts.clear();
        assertThat(replication.advance()).isFalse();
        assertThat(scripted.payloadStarts).containsExactly(960, 1920);

        scripted.statuses.addAll(List.of(CompletionStatus.LANDED, CompletionStatus.LANDED));
        replicator.poll();
        assertThat(replication.advance()).isTrue();
        replicator.close();
    }

    @Test
    void shouldGiveBackWhatABrokenConnectionWasGrantedAndNobodyClaimed() {
        final BackupConnections links = new BackupConnections(
                endpoint, roles.get(), SystemClock.INSTANCE, new ErrorLog(SystemClock.INSTANCE), server -> {});
        final RowanReplicator replicator = new RowanReplicator(
                MemoryRegion.of(ByteBuffer.allocateDirect(64)), links, roles, 1024, 64 << 10, CounterStarts.USUAL);
        assertThat(replicator.newReplication().acquireCredit(SHARD_OF_SERVER_0, 100))
                .isEqualTo(1);
        pair.isFenced = true;
        replicator.releaseCredit();
        assertThat(pair.returnCount).isEqualTo(1);
        replicator.close();
    }

    @Test
    void shouldRefuseMoreEntriesAtOnceThanAContextTellsApart() {
        final RowanReplicator replicator = new RowanReplicator(
                MemoryRegion.of(ByteBuffer.allocateDirect(64)),
                new BackupConnections(
                        endpoint, roles.get(), SystemClock.INSTANCE, new ErrorLog(SystemClock.INSTANCE), server -> {}),
                roles,
                1024,
                64 << 10,
                CounterStarts.USUAL);
        for (int i = 0; i < 4096; i++) {
            assertThat(replicator.newReplication()).isNotNull();
        }
        assertThatThrownBy(replicator::newReplication).hasMessage("4096 entries at once");
        replicator.close();
    }
}
