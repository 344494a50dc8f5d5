package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.placement.Configuration;
import org.rowankv.rdma.CompletionHandler;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;

@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RowanReplicatorTest {
    private static final int SHARD_OF_SERVER_0 = 0;

    /** A connection over which the answer to a question for credit comes later, or never. */
    private static final class SlowPair implements QueuePair {
        private boolean isFenced;
        private int timesGivenBack;

        @Override
        public long drawCredit(long wanted) {
            return 0;
        }

        @Override
        public boolean awaitsCredit() {
            return true;
        }

        @Override
        public void giveBackCredit(long bytes) {
            timesGivenBack++;
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

    private final SlowPair pair = new SlowPair();

    private final Endpoint endpoint = new Endpoint() {
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
    };

    @Test
    void shouldGiveBackWhatABrokenConnectionWasGrantedAndNobodyClaimed() {
        final Configuration configuration = Configuration.initial(1, 2, 2, 2, 2, List.of(1L, 1L));
        final Links links = new Links(
                endpoint, configuration, SystemClock.INSTANCE, new ErrorLog(SystemClock.INSTANCE), server -> {});
        final RowanReplicator replicator = new RowanReplicator(
                MemoryRegion.of(ByteBuffer.allocateDirect(64)),
                links,
                new BackupSets(configuration),
                2,
                1024,
                64 << 10,
                new int[] {1, 1});
        assertThat(replicator.drawCredit(SHARD_OF_SERVER_0, 100)).isEqualTo(1);
        pair.isFenced = true;
        replicator.releaseCredit();
        assertThat(pair.timesGivenBack).isEqualTo(1);
        replicator.close();
    }

    @Test
    void shouldRefuseMoreEntriesAtOnceThanAContextTellsApart() {
        final Configuration configuration = Configuration.initial(1, 2, 2, 2, 2, List.of(1L, 1L));
        final RowanReplicator replicator = new RowanReplicator(
                MemoryRegion.of(ByteBuffer.allocateDirect(64)),
                new Links(
                        endpoint,
                        configuration,
                        SystemClock.INSTANCE,
                        new ErrorLog(SystemClock.INSTANCE),
                        server -> {}),
                new BackupSets(configuration),
                2,
                1024,
                64 << 10,
                new int[] {1, 1});
        for (int i = 0; i < 4096; i++) {
            assertThat(replicator.newReplication()).isNotNull();
        }
        assertThatThrownBy(replicator::newReplication).hasMessage("4096 entries at once");
        replicator.close();
    }
}
