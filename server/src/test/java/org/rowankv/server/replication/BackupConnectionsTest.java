package org.rowankv.server.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.RolesOfOne;
import org.rowankv.topology.Configuration;

/** Connections of server 0 to server 1, whose attempts take time and are refused. */
final class BackupConnectionsTest {
    private static final long RETRY_NS = 200_000_000;

    /** Connects as the test decides. */
    private static final class Dialed implements Endpoint {
        private final List<CompletableFuture<QueuePair>> attempts = new ArrayList<>();

        @Override
        public CompletableFuture<QueuePair> connectAsync(int remoteServerId, long remoteIncarnation, long term) {
            final CompletableFuture<QueuePair> attempt = new CompletableFuture<>();
            attempts.add(attempt);
            return attempt;
        }

        @Override
        public long retryNs() {
            return RETRY_NS;
        }

        @Override
        public ReceiveQueue receiveQueue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public QueuePair connect(int remoteServerId, long remoteIncarnation, long term) {
            throw new UnsupportedOperationException();
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

    private final Dialed endpoint = new Dialed();
    private final ManualClock clock = new ManualClock();
    private final Configuration first = RolesOfOne.configuration(1, 1);
    private final BackupConnections connections =
            new BackupConnections(endpoint, roles(first), clock, new ErrorLog(clock), server -> {});

    private static Roles roles(Configuration configuration) {
        return new Roles(0, configuration, shard -> null);
    }

    private void tries(int attempts) {
        assertThat(connections.pair(1)).isNull();
        assertThat(endpoint.attempts).hasSize(attempts);
    }

    @Test
    void shouldPauseAfterARefusal() {
        tries(1);
        endpoint.attempts
                .get(0)
                .completeExceptionally(new FabricException(FabricException.Reason.NOT_ADMITTED, "not announced yet"));
        tries(1);
        clock.advanceNs(RETRY_NS - 1);
        tries(1);
        clock.advanceNs(1);
        tries(2);
    }
}
