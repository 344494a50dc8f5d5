package org.rowankv.daemon.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreContract;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.configstore.NodeVersion;
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

    private static CuratorFramework rawClient() {
        final CuratorFramework raw =
                CuratorFrameworkFactory.newClient(zooKeeper.getConnectString(), (count, elapsedMs, sleeper) -> false);
        raw.start();
        return raw;
    }

    private static String raw(String path) {
        return "/rowan/c" + clusters + path;
    }

    /** A year of caches and of changes of primaries. */
    @Test
    void shouldLeaveNothingOfDeletedNodes() throws Exception {
        for (int i = 0; i < 100; i++) {
            store.compareAndSet("/many/n" + i, ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", i));
            assertThat(store.delete("/many/n" + i, store.read("/many/n" + i).version()))
                    .isTrue();
        }
        try (CuratorFramework raw = rawClient()) {
            assertThat(raw.getChildren().forPath(raw("/many"))).isEmpty();
        }
    }

    /** An earlier release has left them. The parent of nodes, and what a release never changed, stay. */
    @Test
    void shouldRemoveEmptyNodesThatItLists() throws Exception {
        store.compareAndSet("/many/live", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
        store.compareAndSet("/many/parent/child", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
        try (CuratorFramework raw = rawClient()) {
            for (int i = 0; i < 1_200; i++) {
                raw.create().forPath(raw("/many/left" + i), new byte[] {1});
                raw.setData().forPath(raw("/many/left" + i), new byte[0]);
            }
            assertThat(store.list("/many")).containsExactly("/many/live");
            assertThat(raw.getChildren().forPath(raw("/many"))).containsExactlyInAnyOrder("live", "parent");
        }
        assertThat(store.list("/many/parent")).containsExactly("/many/parent/child");
    }

    /** As many long names end at the default bound of an answer. */
    @Test
    void shouldListMoreNamesThanAnAnswerUsuallyHolds() {
        final List<String> paths = new ArrayList<>();
        for (int i = 0; i < 6_000; i++) {
            paths.add("/many/" + String.format(Locale.ROOT, "%0200d", i));
        }
        try (CuratorFramework raw = rawClient()) {
            store.compareAndSet(paths.get(0), ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            final CountDownLatch created = new CountDownLatch(paths.size() - 1);
            for (String path : paths.subList(1, paths.size())) {
                raw.create()
                        .inBackground((client, event) -> created.countDown())
                        .forPath(raw(path), new byte[] {1});
            }
            assertThat(created.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(store.list("/many")).isEqualTo(paths);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Between the reads of a change and the change: ZooKeeper counts the changes of a new node from 0 again. */
    private static final class Interrupted extends ZooKeeperConfigurationStore {
        private Runnable meanwhile = () -> {};

        Interrupted() {
            super(zooKeeper.getConnectString(), "c" + clusters, 10_000);
        }

        @Override
        void commit(List<CuratorOp> operations) throws Exception {
            final Runnable once = meanwhile;
            meanwhile = () -> {};
            once.run();
            super.commit(operations);
        }
    }

    private void recreate(int content) {
        assertThat(store.delete("/a", store.read("/a").version())).isTrue();
        assertThat(store.compareAndSet(
                        "/a", ConfigurationStore.ABSENT, new byte[] {(byte) content}, new Stamp("one", content)))
                .isTrue();
    }

    /** A paused client would give a new cache the id of the destroyed one of that name. */
    @Test
    void shouldNotChangeANodeThatWasDeletedAndCreatedMeanwhile() {
        try (Interrupted late = new Interrupted()) {
            store.compareAndSet("/a", ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            final long version = late.read("/a").version();
            late.meanwhile = () -> recreate(2);
            assertThat(late.compareAndSet("/a", version, new byte[] {9}, new Stamp("late", 1)))
                    .isFalse();
            final long second = late.read("/a").version();
            late.meanwhile = () -> recreate(3);
            assertThat(late.delete("/a", second)).isFalse();
            final long third = late.read("/a").version();
            late.meanwhile = () -> recreate(4);
            assertThat(late.compareAndSet(
                            "/b",
                            ConfigurationStore.ABSENT,
                            new byte[] {9},
                            new Stamp("late", 1),
                            new NodeVersion("/a", third)))
                    .isFalse();
            assertThat(store.read("/a").bytes()).containsExactly(4);
            assertThat(store.read("/b")).isNull();
        }
    }

    /** The deletion of another node does not fail a change. */
    @Test
    void shouldChangeANodeAlthoughAnotherIsDeletedMeanwhile() {
        try (Interrupted late = new Interrupted()) {
            for (String path : List.of("/a", "/other", "/third")) {
                store.compareAndSet(path, ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("one", 1));
            }
            late.meanwhile = () -> store.delete("/other", store.read("/other").version());
            assertThat(late.compareAndSet("/a", late.read("/a").version(), new byte[] {2}, new Stamp("late", 1)))
                    .isTrue();
            late.meanwhile = () -> store.delete("/third", store.read("/third").version());
            assertThat(late.delete("/a", late.read("/a").version())).isTrue();
            assertThat(store.list("/")).isEmpty();
        }
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
            final Set<String> hints = ConcurrentHashMap.newKeySet();
            assertThat(watching.watch(hints::add)).isTrue();
            requireHints(watching, other, hints, 0);
            own.restart();
            requireHints(watching, other, hints, 10);
            assertThat(hints).contains(ConfigurationStore.ANY_PATH);
        }
    }

    /** The watch is effective some time after its request. Then each change yields a hint that names the node. */
    private static void requireHints(
            ZooKeeperConfigurationStore watching, ZooKeeperConfigurationStore other, Set<String> hints, long sequence) {
        final AtomicLong changes = new AtomicLong(sequence);
        for (int i = 0; i < 3; i++) {
            await().atMost(60, TimeUnit.SECONDS).ignoreExceptions().until(() -> {
                final String path = "/servers/s" + changes.incrementAndGet();
                assertThat(other.compareAndSet(path, ConfigurationStore.ABSENT, new byte[] {1}, new Stamp("o", 1)))
                        .isTrue();
                assertThat(watching.read(path)).isNotNull();
                return hints.contains(path);
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
