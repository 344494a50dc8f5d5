package org.rowankv.daemon.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreContract;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.Stamp;

/** The contract of all stores with ZooKeeper, and its specific behaviour. */
class ZooKeeperConfigurationStoreTest extends ConfigurationStoreContract {
    private static TestingServer zooKeeper;
    private static int clusters;

    private ZooKeeperConfigurationStore store;

    @BeforeAll
    static void startZooKeeper() throws Exception {
        zooKeeper = new TestingServer(true);
    }

    @AfterAll
    static void stopZooKeeper() throws Exception {
        zooKeeper.close();
    }

    @BeforeEach
    void connect() {
        store = connected("c" + ++clusters);
    }

    @AfterEach
    void disconnect() {
        store.close();
    }

    private static ZooKeeperConfigurationStore connected(String cluster) {
        return new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), cluster, 10_000);
    }

    @Override
    protected ConfigurationStore store() {
        return store;
    }

    @Test
    void shouldKeepClustersApart() {
        try (ZooKeeperConfigurationStore other = connected("another")) {
            store.compareAndSet("/a", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            other.compareAndSet("/a", ConfigurationStore.ABSENT, new byte[] {2}, new Stamp("two", 2));
            assertThat(store.read("/a").bytes()).containsExactly(1);
            assertThat(other.read("/a").bytes()).containsExactly(2);
            assertThat(store.list("/")).containsExactly("/a");
        }
    }

    /** As many caches come and go in weeks. */
    @Test
    void shouldListFewAmongManyDeletedOnes() {
        for (int i = 0; i < 1_000; i++) {
            store.compareAndSet("/many/n" + i, ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", i));
            if (i % 250 != 7) {
                assertThat(store.delete("/many/n" + i, store.read("/many/n" + i).version()))
                        .isTrue();
            }
        }
        assertThat(store.list("/many")).containsExactly("/many/n257", "/many/n507", "/many/n7", "/many/n757");
    }

    @Test
    void shouldSeeWhatAnotherConnectionChanged() {
        try (ZooKeeperConfigurationStore other = connected("c" + clusters)) {
            other.compareAndSet("/a", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            final long version = store.read("/a").version();
            other.compareAndSet("/a", version, new byte[] {2}, new Stamp("one", 2));
            assertThat(store.compareAndSet("/a", version, new byte[] {3}, new Stamp("two", 1)))
                    .isFalse();
            assertThat(store.read("/a").stamp()).isEqualTo(new Stamp("one", 2));
        }
    }

    @Test
    void shouldHintAtWhatOthersChangeAlsoAfterTheConnectionWasLost() throws Exception {
        try (TestingServer own = new TestingServer(true);
                ZooKeeperConfigurationStore watching =
                        new ZooKeeperConfigurationStore(own.getConnectString(), "watched", 10_000);
                ZooKeeperConfigurationStore other =
                        new ZooKeeperConfigurationStore(own.getConnectString(), "watched", 10_000)) {
            final AtomicLong hints = new AtomicLong();
            assertThat(watching.watch(hints::incrementAndGet)).isTrue();
            requireHints(watching, other, hints, 0);
            own.restart();
            requireHints(watching, other, hints, 10);
        }
    }

    /** The watch is effective some time after its request. Then each change yields a hint. */
    private static void requireHints(
            ZooKeeperConfigurationStore watching, ZooKeeperConfigurationStore other, AtomicLong hints, long sequence) {
        final AtomicLong changes = new AtomicLong(sequence);
        for (int i = 0; i < 3; i++) {
            await().atMost(60, TimeUnit.SECONDS).ignoreExceptions().until(() -> {
                final long before = hints.get();
                final String path = "/servers/s" + changes.incrementAndGet();
                assertThat(other.compareAndSet(path, ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("o", 1)))
                        .isTrue();
                assertThat(watching.read(path)).isNotNull();
                return hints.get() > before;
            });
        }
    }

    @Test
    void shouldSayThatItIsAwayAndBeBackAfterwards() throws Exception {
        try (TestingServer own = new TestingServer(true);
                ZooKeeperConfigurationStore away =
                        new ZooKeeperConfigurationStore(own.getConnectString(), "away", 500)) {
            away.compareAndSet("/a", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            own.stop();
            assertThatThrownBy(() -> away.read("/a"))
                    .isInstanceOf(ConfigurationStoreException.class)
                    .hasMessageContaining(own.getConnectString());
            own.restart();
            org.awaitility.Awaitility.await()
                    .ignoreExceptionsInstanceOf(ConfigurationStoreException.class)
                    .untilAsserted(() -> assertThat(away.read("/a").bytes()).containsExactly(1));
        }
    }
}
