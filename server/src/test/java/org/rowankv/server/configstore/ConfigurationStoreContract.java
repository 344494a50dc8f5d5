package org.rowankv.server.configstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of every configuration store. */
public abstract class ConfigurationStoreContract {
    static final Stamp STAMP = new Stamp("writer", 7);

    protected abstract ConfigurationStore store();

    static byte[] bytes(int... values) {
        final byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    final long versionOf(String path) {
        final VersionedNode node = store().read(path);
        return node == null ? ConfigurationStore.ABSENT : node.version();
    }

    @Test
    void shouldCreateReplaceAndDeleteByCompareAndSet() {
        assertThat(store().read("/a")).isNull();
        assertThat(store().compareAndSet("/a", 0, bytes(1), STAMP)).isFalse();
        assertThat(store().compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP))
                .isTrue();
        assertThat(store().compareAndSet("/a", ConfigurationStore.ABSENT, bytes(2), STAMP))
                .isFalse();
        final VersionedNode first = store().read("/a");
        assertThat(first).isEqualTo(new VersionedNode(bytes(1), first.version(), STAMP));
        final Stamp other = new Stamp("other", -1);
        assertThat(store().compareAndSet("/a", first.version() + 1, bytes(2), other))
                .isFalse();
        assertThat(store().compareAndSet("/a", first.version(), bytes(2), other))
                .isTrue();
        assertThat(store().compareAndSet("/a", first.version(), bytes(3), other))
                .isFalse();
        final VersionedNode second = store().read("/a");
        assertThat(second.bytes()).isEqualTo(bytes(2));
        assertThat(second.stamp()).isEqualTo(other);
        assertThat(second.version()).isGreaterThan(first.version());
        assertThat(store().delete("/a", first.version())).isFalse();
        assertThat(store().delete("/a", second.version())).isTrue();
        assertThat(store().delete("/a", second.version())).isFalse();
        assertThat(store().delete("/a", ConfigurationStore.ABSENT)).isFalse();
        assertThat(store().read("/a")).isNull();
    }

    @Test
    void shouldNeverGiveAVersionTwiceToOnePath() {
        final List<Long> versions = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            assertThat(store().compareAndSet("/a", ConfigurationStore.ABSENT, bytes(i), STAMP))
                    .isTrue();
            versions.add(versionOf("/a"));
            assertThat(store().delete("/a", versionOf("/a"))).isTrue();
        }
        assertThat(versions).doesNotHaveDuplicates().doesNotContain(ConfigurationStore.ABSENT);
    }

    @Test
    void shouldListTheChildrenOfAPathOnly() {
        for (String path : List.of("/b/y", "/b", "/b/x", "/b/x/z", "/bc", "/c/x", "/b/n_%0041")) {
            assertThat(store().compareAndSet(path, ConfigurationStore.ABSENT, bytes(), STAMP))
                    .isTrue();
        }
        assertThat(store().list("/b")).containsExactly("/b/n_%0041", "/b/x", "/b/y");
        assertThat(store().list("/")).containsExactly("/b", "/bc");
        assertThat(store().list("/b/y")).isEmpty();
        assertThat(store().read("/b/n_%0041").bytes()).isEmpty();
    }

    @Test
    void shouldRefuseAPathThatNotEveryStoreCanHold() {
        for (String path : List.of(
                "", "a", "/", "//a", "/a/", "/A", "/a/../b", "/.", "/a b", "/ä", "/a\\b", "/" + "a".repeat(201))) {
            assertThatThrownBy(() -> store().read(path)).as(path).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> store().compareAndSet(path, ConfigurationStore.ABSENT, bytes(), STAMP))
                    .as(path)
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> store().delete(path, 0)).as(path).isInstanceOf(IllegalArgumentException.class);
        }
        store().compareAndSet("/" + "a".repeat(200), ConfigurationStore.ABSENT, bytes(), STAMP);
        assertThatThrownBy(() -> store().compareAndSet(
                                "/a",
                                ConfigurationStore.ABSENT,
                                new byte[ConfigurationStore.MAX_NODE_LENGTH + 1],
                                STAMP))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepItsBytesApartFromTheCallers() {
        final byte[] mine = bytes(1, 2);
        store().compareAndSet("/a", ConfigurationStore.ABSENT, mine, STAMP);
        mine[0] = 9;
        store().read("/a").bytes()[1] = 9;
        assertThat(store().read("/a").bytes()).isEqualTo(bytes(1, 2));
    }

    @Test
    void shouldLetOneOfManyWritersWinEachVersion() throws InterruptedException {
        final int rounds = 25;
        final AtomicInteger won = new AtomicInteger();
        final List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            final Stamp stamp = new Stamp("writer " + i, i);
            final Thread writer = new Thread(() -> {
                int own = 0;
                while (own < rounds) {
                    final VersionedNode node = store().read("/count");
                    final int count = node == null ? 0 : node.bytes()[0];
                    final long version = node == null ? ConfigurationStore.ABSENT : node.version();
                    if (store().compareAndSet("/count", version, bytes(count + 1), stamp)) {
                        own++;
                        won.incrementAndGet();
                    }
                }
            });
            writers.add(writer);
            writer.start();
        }
        for (Thread writer : writers) {
            writer.join();
        }
        assertThat(won).hasValue(4 * rounds);
        assertThat(store().read("/count").bytes()).isEqualTo(bytes(4 * rounds));
    }

    @Test
    void shouldServeAnInterruptedCaller() {
        Thread.currentThread().interrupt();
        assertThat(store().compareAndSet("/a", ConfigurationStore.ABSENT, bytes(1), STAMP))
                .isTrue();
        assertThat(store().read("/a").bytes()).isEqualTo(bytes(1));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(store().delete("/a", versionOf("/a"))).isTrue();
    }
}
