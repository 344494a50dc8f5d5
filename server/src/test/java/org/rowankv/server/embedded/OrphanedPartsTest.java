package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.directory.ClosedStore;
import org.rowankv.server.inspect.ServerContents;
import org.rowankv.server.inspect.StoreInspection;

/** Parts without a value are found and removed, and never those of a value. */
@Timeout(120)
final class OrphanedPartsTest {
    private static final int BIG = 1_000_000;

    @TempDir
    private Path dir;

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldRemovePartsOfAClientThatEndedAfterTheLease(int servers, int replicas) {
        try (PartedStore store = new PartedStore(servers, replicas, true, null)) {
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            final long own = store.parts();
            store.leaveOrphans(77, 9);
            store.leapAndWalk(Duration.ofMinutes(1));
            assertThat(store.parts()).as("its client may live").isEqualTo(own + 9);
            store.clock.leap(Duration.ofMinutes(30).toNanos());
            store.awaitParts(own);
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isOne();
            Stores.requireHealth(store.cluster);
        }
    }

    /** Its client has ended with the process, or sends the value again. */
    @Test
    void shouldRemovePartsFromBeforeARestartAtOnce() {
        final long own;
        try (PartedStore store = new PartedStore(1, 1, true, dir)) {
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            store.client.put(store.cache, bytes("gone"), value("gone", 1, BIG));
            store.client.put(store.cache, bytes("gone"), value("gone", 2, 10));
            own = store.parts() - store.partsOf(BIG);
            store.leaveOrphans(77, 9);
        }
        try (ClosedStore closed = ClosedStore.open(dir)) {
            final ServerContents found =
                    StoreInspection.of(closed).contents().servers().get(0);
            assertThat(found.objects()).isEqualTo(2);
            assertThat(found.partedValues()).isOne();
            assertThat(found.orphans())
                    .as("of a client, and of what was replaced")
                    .isEqualTo(2);
        }
        try (PartedStore store = new PartedStore(1, 1, true, dir)) {
            store.awaitParts(own);
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isOne();
            assertThat(numberOf("gone", store.client.get(store.cache, bytes("gone"))))
                    .isEqualTo(2);
            Stores.requireHealth(store.cluster);
        }
    }

    @Test
    void shouldRefuseAListWhosePartsAreNotThere() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            final byte[] list = new PartList(5, BIG, 1 << 14, 0).toBytes();
            final Request put = new Request()
                    .put(store.cache, key, 0, key.length, list, 0, list.length)
                    .inParts(true);
            store.client.execute(put);
            assertThat(put.status()).isEqualTo(Status.PARTS_MISSING);
            assertThat(store.client.get(store.cache, key)).isNull();
        }
    }

    /** As when the client was stopped for longer than its lease in the middle of a put. */
    @Test
    void shouldSendAValueAgainWhosePartsWereCollectedMeanwhile() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            store.client.put(store.cache, bytes("warm"), value("warm", 1, BIG));
            final long own = store.parts();
            store.beforeList(() -> {
                store.leapAndWalk(Duration.ofMinutes(1));
                store.clock.leap(Duration.ofMinutes(30).toNanos());
                store.awaitParts(own);
            });
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isOne();
            assertThat(store.parts()).isEqualTo(own + store.partsOf(BIG));
        }
    }

    @Test
    void shouldTellThatPartsOfAPresentValueAreMissing() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            store.client.put(store.cache, key, value("k", 1, BIG));
            store.loseOnePart(key);
            assertThatThrownBy(() -> store.client.get(store.cache, key))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.PARTS_MISSING))
                    .hasMessageContaining("\"k\"")
                    .hasMessageContaining("Put it again");
            store.client.put(store.cache, key, value("k", 2, BIG));
            assertThat(numberOf("k", store.client.get(store.cache, key))).isEqualTo(2);
        }
    }

    @Test
    void shouldReadTheListAgainWhenItsPartsAreGone() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            store.client.put(store.cache, key, value("k", 1, BIG));
            store.beforePartIsRead(() -> {
                store.client.put(store.cache, key, value("k", 2, BIG));
                store.awaitParts(store.partsOf(BIG));
            });
            assertThat(numberOf("k", store.client.get(store.cache, key))).isEqualTo(2);
            store.beforePartIsRead(() -> {
                store.client.remove(store.cache, key);
                store.awaitParts(0);
            });
            assertThat(store.client.get(store.cache, key)).isNull();
        }
    }

    @Test
    void shouldKeepThePartsOfAValueThatWasNotReplaced() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            store.client.put(store.cache, key, value("k", 1, BIG));
            final long own = store.parts();
            assertThat(store.client
                            .putIfAbsent(store.cache, key, value("k", 2, 10))
                            .applied())
                    .isFalse();
            assertThat(store.client.removeIfVersion(store.cache, key, 1).applied())
                    .isFalse();
            store.leapAndWalk(Duration.ofHours(1));
            store.leapAndWalk(Duration.ofHours(1));
            store.awaitAtRest();
            assertThat(store.parts()).isEqualTo(own);
            assertThat(numberOf("k", store.client.get(store.cache, key))).isOne();
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,2"})
    void shouldCopyWholeValuesIntoASnapshot(int servers, int replicas) {
        final Path copy = dir.resolve("copy");
        try (PartedStore store = new PartedStore(servers, replicas, true, dir.resolve("store"))) {
            store.client.put(store.cache, bytes("k"), value("k", 1, BIG));
            final AtomicBoolean ends = new AtomicBoolean();
            final CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                for (int i = 2; !ends.get(); i++) {
                    store.client.put(store.cache, bytes("k"), value("k", i, BIG));
                    store.client.put(store.cache, bytes("other" + i % 3), value("other" + i % 3, i, BIG));
                }
            });
            try {
                store.cluster.snapshot(copy);
            } finally {
                ends.set(true);
            }
            writer.join();
        }
        try (PartedStore store = new PartedStore(servers, replicas, true, copy)) {
            assertThat(numberOf("k", store.client.get(store.cache, bytes("k")))).isPositive();
            for (int i = 0; i < 3; i++) {
                final byte[] found = store.client.get(store.cache, bytes("other" + i));
                if (found != null) {
                    assertThat(numberOf("other" + i, found)).isPositive();
                }
            }
            store.awaitAtRest(); // parts without their value are being removed
            Stores.requireHealth(store.cluster);
        }
    }

    /** Evicting lists frees their parts; otherwise the limit would evict everything. */
    @Test
    void shouldEvictWholeValuesAndNoMoreThanTheLimitAsks() {
        try (PartedStore store = new PartedStore(1, 1, false, null)) {
            final int limit = 8 * BIG;
            store.client.put(store.cache, bytes("warm"), value("warm", 1, BIG));
            store.client.remove(store.cache, bytes("warm"));
            store.clock.leap(Duration.ofSeconds(6).toNanos());
            store.awaitParts(0);
            store.client.catalogue().limit("c", new CacheLimit(0, limit));
            for (int i = 0; i < 40; i++) {
                store.client.put(store.cache, bytes("k" + i), value("k" + i, i, BIG));
            }
            store.awaitAtRest();
            int left = 0;
            for (int i = 0; i < 40; i++) {
                final byte[] found = store.client.get(store.cache, bytes("k" + i));
                if (found != null) {
                    assertThat(numberOf("k" + i, found)).isEqualTo(i);
                    left++;
                }
            }
            assertThat(left).as("of 8 that fit").isBetween(4, 8);
            assertThat(store.objects()).isEqualTo(left);
            store.clock.leap(Duration.ofSeconds(6).toNanos());
            store.awaitAtRest();
            assertThat(store.parts()).isEqualTo(left * store.partsOf(BIG));
        }
    }

    /** All at once: the agent that evicts could go on before the parts of any of them are removed. */
    @Test
    void shouldEvictNoMoreThanALowerLimitAsks() {
        try (PartedStore store = new PartedStore(1, 1, false, null)) {
            for (int i = 0; i < 20; i++) {
                store.client.put(store.cache, bytes("k" + i), value("k" + i, i, BIG));
            }
            store.client.catalogue().limit("c", new CacheLimit(0, 8 * BIG));
            store.awaitAtRest();
            assertThat(store.objects()).as("of 8 that fit").isBetween(4L, 8L);
        }
    }

    /** As a small object that is larger than its cache's limit: it is stored, and evicted. */
    @Test
    void shouldNotWaitForRoomThatTheLimitNeverLeaves() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            store.client.catalogue().limit("c", new CacheLimit(0, BIG / 2));
            for (int i = 0; i < 3; i++) {
                store.client.put(store.cache, bytes("k" + i), value("k" + i, i, BIG));
            }
            store.client.put(store.cache, bytes("small"), value("small", 1, 100));
            store.awaitAtRest();
            store.awaitParts(0);
            assertThat(store.objects()).isLessThanOrEqualTo(1);
        }
    }

    /** A value that is always replaced before it is read is read in the end, since its parts have a grace. */
    @Test
    void shouldReadWholeValuesWhileTheyAreReplaced() {
        try (PartedStore store = new PartedStore(1, 1, true, null)) {
            final byte[] key = bytes("k");
            store.client.put(store.cache, key, value("k", 0, BIG));
            final CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
                for (int i = 1; i < 60; i++) {
                    store.client.put(store.cache, key, value("k", i, BIG));
                }
            });
            long last = 0;
            try (RowanClient reader = Stores.client(store.cluster, 99)) {
                while (!writer.isDone()) {
                    final long read = numberOf("k", reader.get(store.cache, key));
                    assertThat(read).isGreaterThanOrEqualTo(last);
                    last = read;
                }
            }
            writer.join();
            assertThat(numberOf("k", store.client.get(store.cache, key))).isEqualTo(59);
        }
    }
}
