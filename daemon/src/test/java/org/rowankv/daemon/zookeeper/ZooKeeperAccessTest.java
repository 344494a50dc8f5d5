package org.rowankv.daemon.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.Stamp;

/** Permissions to read and change the nodes of a cluster in ZooKeeper. */
class ZooKeeperAccessTest {
    private static final ZooKeeperAuth OWN = new ZooKeeperAuth("digest", "rowan:a password");
    private static final ZooKeeperAuth OTHER = new ZooKeeperAuth("digest", "rowan:another");
    private static final byte[] BYTES = {1, 2, 3};
    private static final Stamp STAMP = new Stamp("test", 1);

    private TestingServer zooKeeper;

    @BeforeEach
    void start() throws Exception {
        zooKeeper = new TestingServer();
    }

    @AfterEach
    void stop() throws Exception {
        zooKeeper.close();
    }

    private ZooKeeperConfigurationStore store(@Nullable ZooKeeperAuth auth) {
        return new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), "shop", 10_000, auth);
    }

    private CuratorFramework stranger() {
        final CuratorFramework curator = CuratorFrameworkFactory.builder()
                .connectString(zooKeeper.getConnectString())
                .authorization(OWN.scheme(), OWN.bytes())
                .retryPolicy((count, elapsedMs, sleeper) -> false)
                .build();
        curator.start();
        return curator;
    }

    @Test
    void shouldMakeEveryNodeForItsCredentialAlone() throws Exception {
        try (ZooKeeperConfigurationStore store = store(OWN);
                CuratorFramework curator = stranger()) {
            assertThat(store.compareAndSet("/configuration", ConfigurationStore.ABSENT, BYTES, STAMP))
                    .isTrue();
            assertThat(store.compareAndSet("/servers/a", ConfigurationStore.ABSENT, BYTES, STAMP))
                    .isTrue();
            for (String path : List.of(
                    "/rowan",
                    "/rowan/shop",
                    "/rowan/shop/configuration",
                    "/rowan/shop/servers",
                    "/rowan/shop/servers/a")) {
                final List<ACL> rules = curator.getACL().forPath(path);
                assertThat(rules).as(path).hasSize(1);
                assertThat(rules.get(0).getPerms()).as(path).isEqualTo(ZooDefs.Perms.ALL);
                assertThat(rules.get(0).getId().getScheme()).as(path).isEqualTo("digest");
                assertThat(rules.get(0).getId().getId())
                        .as(path)
                        .startsWith("rowan:")
                        .doesNotContain("password");
            }
        }
    }

    @Test
    void shouldLetNobodyElseReadOrChangeThem() {
        try (ZooKeeperConfigurationStore store = store(OWN);
                ZooKeeperConfigurationStore open = store(null);
                ZooKeeperConfigurationStore other = store(OTHER)) {
            assertThat(store.compareAndSet("/configuration", ConfigurationStore.ABSENT, BYTES, STAMP))
                    .isTrue();
            for (ZooKeeperConfigurationStore stranger : List.of(open, other)) {
                assertThatThrownBy(() -> stranger.read("/configuration"))
                        .isInstanceOf(ConfigurationStoreException.class)
                        .hasMessageContaining("another credential: check --zookeeper-auth-file");
                assertThatThrownBy(() -> stranger.compareAndSet("/configuration", 0, BYTES, STAMP))
                        .isInstanceOf(ConfigurationStoreException.class);
                assertThatThrownBy(() -> stranger.compareAndSet("/more", ConfigurationStore.ABSENT, BYTES, STAMP))
                        .isInstanceOf(ConfigurationStoreException.class);
            }
            assertThat(store.read("/configuration").bytes()).isEqualTo(BYTES);
        }
    }

    @Test
    void shouldReportNodesThatWereMadeWithoutACredentialOnceEach() throws Exception {
        try (ZooKeeperConfigurationStore open = store(null)) {
            assertThat(open.compareAndSet("/servers/a", ConfigurationStore.ABSENT, BYTES, STAMP))
                    .isTrue();
        }
        try (ZooKeeperConfigurationStore store = store(OWN);
                CuratorFramework curator = stranger()) {
            assertThat(store.compareAndSet("/configuration", ConfigurationStore.ABSENT, BYTES, STAMP))
                    .isTrue();
            assertThat(store.read("/servers/a").bytes()).isEqualTo(BYTES);
            final UnprotectedNodes nodes = new UnprotectedNodes(curator.usingNamespace("rowan/shop"), "the test");
            nodes.check("/servers/a");
            nodes.check("/configuration");
            nodes.check("/servers/a");
            assertThat(nodes.open())
                    .containsExactlyInAnyOrder("/rowan", "/rowan/shop", "/rowan/shop/servers", "/rowan/shop/servers/a");
        }
    }
}
