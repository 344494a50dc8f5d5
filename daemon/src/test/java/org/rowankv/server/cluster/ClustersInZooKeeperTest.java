package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** Clusters with their configuration in ZooKeeper, in this JVM. */
class ClustersInZooKeeperTest {
    private static final int CACHE = 1;
    private static final long CAPACITY = 4 << 20;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldKeepTwoClustersInOneZooKeeperApart() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true);
                ZooKeeperConfigurationStore one =
                        new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), "one", 10_000);
                ZooKeeperConfigurationStore two =
                        new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), "two", 10_000)) {
            try (ClusterBed first = new ClusterBed(dir.resolve("1"), 2, 2, CAPACITY, one);
                    ClusterBed second = new ClusterBed(dir.resolve("2"), 2, 2, CAPACITY, two)) {
                first.members.forEach(ClusterBed.Member::start);
                second.members.forEach(ClusterBed.Member::start);
                first.awaitServing();
                second.awaitServing();
                final RowanClient client = first.client(1);
                client.put(CACHE, bytes("key"), bytes("first"));
                assertThat(second.client(2).get(CACHE, bytes("key"))).isNull();
                assertThat(first.configuration().clusterId())
                        .isNotEqualTo(second.configuration().clusterId());
            }
            // A server of one cluster that is directed to the other.
            try (ClusterBed wrong = new ClusterBed(dir.resolve("1"), 2, 2, CAPACITY, two)) {
                wrong.members.get(0).start();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> wrong.members.get(0).server.phase() == StartPhase.FAILED);
                assertThat(wrong.members.get(0).server.failure())
                        .hasMessageContaining("is not the one with which server 'a' is a member");
            }
        }
    }

    @Test
    void shouldWaitForZooKeeperAndThenDoWithoutIt() throws Exception {
        final InstanceSpec spec = InstanceSpec.newInstanceSpec();
        try (ZooKeeperConfigurationStore store =
                        new ZooKeeperConfigurationStore("127.0.0.1:" + spec.getPort(), "late", 300);
                ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY, store)) {
            bed.members.forEach(ClusterBed.Member::start);
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bed.members
                            .get(0)
                            .server
                            .saying()
                            .startsWith(
                                    "waiting for the configuration store: ZooKeeper at 127.0.0.1:" + spec.getPort()));
            try (TestingServer zooKeeper = new TestingServer(spec, true)) {
                bed.awaitServing();
                final Configuration configuration = bed.configuration();
                final RowanClient client = bed.client(1);
                client.put(CACHE, bytes("key"), bytes("with"));
                zooKeeper.stop();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> bed.members.get(0).server.saying().contains("the data path continues"));
                for (int i = 0; i < 200; i++) {
                    client.put(CACHE, bytes("key" + i), bytes("without" + i));
                }
                assertThat(client.get(CACHE, bytes("key199"))).isEqualTo(bytes("without199"));
                zooKeeper.restart();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> bed.members.get(0).server.saying().isEmpty());
                assertThat(bed.configuration()).isEqualTo(configuration);
                assertThat(client.get(CACHE, bytes("key"))).isEqualTo(bytes("with"));
            }
        }
    }
}
