package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.embedded.offline.CacheReplacement;
import org.rowankv.server.embedded.offline.CacheReplacement.StoredObject;

/** A tool writes a cache anew: there is the old content or the new one, and what is not used is destroyed. */
class CacheReplacementTest {
    private static final byte[] OLD = {1};
    private static final byte[] NEW = {2};

    @TempDir
    Path directory;

    private EmbeddedCluster open() {
        return EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.dir = directory;
            with.servers = 2;
            with.replicas = 2;
            with.capacityBytes = 16L << 20;
        }));
    }

    private static RowanClient client(EmbeddedCluster store) {
        return new RowanClient(store.session(), SystemClock.INSTANCE, new SplittableRandomSource(1));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void fill(int count) {
        try (EmbeddedCluster store = open();
                RowanClient client = client(store)) {
            final int id = client.catalogue().create("c", OLD).id();
            for (int i = 0; i < count; i++) {
                client.put(id, bytes("k" + i), bytes("v" + i));
            }
            client.remove(id, bytes("k0"));
            final byte[] key = bytes("dying");
            client.execute(new Request()
                    .put(id, key, 0, key.length, key, 0, key.length)
                    .ttl(TimeUnit.HOURS.toMillis(3), Ttl.UNCHANGED));
        }
    }

    private Map<String, String> content() {
        try (EmbeddedCluster store = open();
                RowanClient client = client(store)) {
            final Map<String, String> content = new TreeMap<>();
            client.scan(client.catalogue().find("c").id(), true)
                    .forEachRemaining(each -> content.put(
                            new String(each.key(), StandardCharsets.UTF_8),
                            new String(each.value(), StandardCharsets.UTF_8)));
            content.put(
                    "descriptor", String.valueOf(client.catalogue().find("c").descriptor()[0]));
            assertThat(client.catalogue().list()).hasSize(1);
            store.awaitDigested();
            content.put(
                    "objects",
                    String.valueOf(store.servers().get(0).replicas().all().stream()
                            .mapToLong(replica -> replica.index().count()
                                    - replica.deletions().size())
                            .sum()));
            return content;
        }
    }

    @Test
    void shouldVisitEachObjectWithItsExpiry() {
        fill(50);
        final List<StoredObject> found = new ArrayList<>();
        try (CacheReplacement replacement = CacheReplacement.open(directory, "c")) {
            replacement.forEach(found::add);
            assertThat(replacement.descriptor()).isEqualTo(OLD);
        }
        assertThat(found).hasSize(50);
        assertThat(found.stream().filter(each -> each.expiryMs() != Long.MAX_VALUE))
                .singleElement()
                .satisfies(each -> assertThat(each.key()).isEqualTo(bytes("dying")));
    }

    @Test
    void shouldReplaceTheContentAndDestroyTheOldOne() {
        fill(50);
        try (CacheReplacement replacement = CacheReplacement.open(directory, "c");
                RowanClient client =
                        new RowanClient(replacement.session(), SystemClock.INSTANCE, new SplittableRandomSource(1))) {
            replacement.forEach(each -> client.put(replacement.newId(), each.value(), each.key()));
            replacement.replace(NEW);
        }
        final Map<String, String> after = content();
        assertThat(after)
                .containsEntry("v1", "k1")
                .containsEntry("descriptor", "2")
                .doesNotContainKey("k1");
        assertThat(after).hasSize(52).containsEntry("objects", "50");
    }

    @Test
    void shouldDestroyWhatWasNotUsed() {
        fill(50);
        try (CacheReplacement replacement = CacheReplacement.open(directory, "c");
                RowanClient client =
                        new RowanClient(replacement.session(), SystemClock.INSTANCE, new SplittableRandomSource(1))) {
            replacement.forEach(each -> client.put(replacement.newId(), each.value(), each.key()));
        }
        assertThat(content())
                .hasSize(52)
                .containsEntry("k1", "v1")
                .containsEntry("descriptor", "1")
                .containsEntry("objects", "50");
    }

    @Test
    void shouldRefuseWithWhatToDo() {
        assertThatThrownBy(() -> CacheReplacement.open(directory.resolve("none"), "c"))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("does not exist");
        fill(1);
        assertThatThrownBy(() -> CacheReplacement.open(directory, "d"))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("has no cache d; its caches: c");
        try (EmbeddedCluster store = open()) {
            assertThat(store.dir()).isNotNull();
            assertThatThrownBy(() -> CacheReplacement.open(directory, "c"))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("in use");
        }
    }
}
