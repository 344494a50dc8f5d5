package org.rowankv.sim.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.session.SessionTable;
import org.rowankv.topology.ShardAssignment;

@Timeout(120)
class SessionLeasesTest {
    private static final long SESSION = 7;
    private static final long NEVER_NS = 1L << 62;

    private final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
        with.servers = 2;
        with.replicas = 2;
        with.shards = 2;
        with.workers = 1;
        with.capacityBytes = 4 << 20;
        with.segmentBytes = 64 << 10;
    }));
    private final List<String> violations = new ArrayList<>();
    private final SessionLeases checker = new SessionLeases(scene(), new LargestDraws(), NEVER_NS);

    /** No draw is 0: no rest waits for the ends of sessions. */
    private static final class LargestDraws implements RandomSource {
        @Override
        public long nextLong() {
            return -1;
        }

        @Override
        public int nextInt(int bound) {
            return bound - 1;
        }

        @Override
        public RandomSource fork(String name) {
            return this;
        }
    }

    private StoreScene scene() {
        return (StoreScene) Proxy.newProxyInstance(
                StoreScene.class.getClassLoader(), new Class<?>[] {StoreScene.class}, (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "violation" -> violations.add((String) arguments[0]);
                        case "cluster" -> {
                            return cluster;
                        }
                        case "nowNs" -> {
                            return 0L;
                        }
                        case "isRead" -> {
                            return false;
                        }
                        default -> {}
                    }
                    return null;
                });
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    private SessionTable table(int server) {
        return cluster.servers().get(server).replicas().get(0).sessions().of(SESSION);
    }

    /** The record that ends a session takes effect on backups first: they digest it before the primary has every acknowledgement. */
    @Test
    void shouldAcceptThatABackupHasEndedWhatThePrimaryIsEnding() {
        final ShardAssignment shard = cluster.configuration().shard(0);
        final Request open = new Request()
                .openSession(0, SESSION, cluster.servers().get(shard.primary()).lastVersion(0));
        cluster.session().call(open);
        assertThat(open.status()).isEqualTo(Status.OK);
        checker.rest();
        assertThat(violations).isEmpty();

        assertThat(table(shard.primary()).beginEnding(SESSION, -1)).isTrue();
        final int freed = table(shard.backups()[0]).close(SESSION, open.version() + 1, address -> 0);
        assertThat(freed).isZero();
        checker.rest();
        assertThat(violations).isEmpty();

        table(shard.primary()).cancelEnding(SESSION);
        checker.rest();
        assertThat(violations).hasSize(1).first().asString().startsWith("sessions open at shard 0");
    }
}
