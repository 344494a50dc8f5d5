package org.rowankv.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue.CacheRecord;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedContext;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.embedded.Stores;
import org.rowankv.server.embedded.WriterModel;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.SegmentPins;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;

/** Copies of stores under writes: a whole cut, which costs writers nothing but time. */
@Timeout(120)
final class OnlineSnapshotTest {
    @TempDir
    private Path temporary;

    private final AtomicLong aheadNs = new AtomicLong();

    private Path dir;
    private Path target;

    @BeforeEach
    void name() {
        dir = temporary.resolve("store");
        target = temporary.resolve("copies/copy");
    }

    @AfterEach
    void shouldLeaveNoThread() {
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("rowan-")));
    }

    private static Consumer<EmbeddedSettings.Builder> settings(int servers, int replicas) {
        return with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 4;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.maxMessage = 4096;
        };
    }

    private EmbeddedCluster open(Consumer<EmbeddedSettings.Builder> settings, Path directory) {
        return EmbeddedCluster.open(
                EmbeddedSettings.of(settings.andThen(with -> with.dir = directory)),
                EmbeddedContext.of(clock(), new SplittableRandomSource(5)));
    }

    /** The machine's clock, which can be set forward. */
    private Clock clock() {
        return new Clock() {
            @Override
            public long nanoTime() {
                return SystemClock.INSTANCE.nanoTime() + aheadNs.get();
            }

            @Override
            public long wallMs() {
                return SystemClock.INSTANCE.wallMs();
            }
        };
    }

    private static long pinned(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(each -> each.pinnedSegments())
                .sum();
    }

    @ParameterizedTest
    @CsvSource({"1, 1, PROCESS, 600", "3, 2, PROCESS, 600", "3, 3, POWER, 200", "2, 2, PROCESS, 2000"})
    void shouldHoldEveryWriteUpToOneAndNoneBehindIt(int servers, int replicas, Durability level, int length) {
        final WriterModel model = new WriterModel(4, length > 1_000 ? 10 : 60, length);
        final SnapshotOutcome copied;
        try (EmbeddedCluster cluster = open(settings(servers, replicas).andThen(with -> with.durability = level), dir);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            try (WriterModel.Running running = model.start(cluster, cache)) {
                running.awaitWrites(2_000);
                final List<Integer> before = model.acknowledged();
                copied = cluster.snapshot(target, (segments, of) -> {
                    assertThat(segments).isLessThanOrEqualTo(of);
                    running.awaitWritesOrPressure(20, cluster); // slow
                });
                model.requireBetween(before, copied.versions(), model.attempted());
            }
            assertThat(pinned(cluster)).isZero();
            Stores.requireHealth(cluster);
        }
        model.requireSettled();
        assertThat(copied.entries()).isPositive();
        try (EmbeddedCluster copy = open(settings(servers, replicas), target)) {
            try (RowanClient client = Stores.client(copy, 9)) {
                model.requireContent(client, Stores.cache(client), copied.versions());
                Stores.requireHealth(copy);
                client.put(Stores.cache(client), bytes("new"), bytes("value"));
            }
            Stores.requireExactSpace(copy);
        }
    }

    /** While caches are created and destroyed: the copy's catalogue names the caches of its objects. */
    @Test
    void shouldHoldTheCachesOfTheSameMoment() throws Exception {
        final AtomicLong made = new AtomicLong();
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        try (EmbeddedCluster cluster = open(settings(2, 2), dir);
                RowanClient client = Stores.client(cluster)) {
            final Thread thread = new Thread(() -> {
                try {
                    for (long i = 0; made.get() >= 0; i++) {
                        final int cache = client.catalogue()
                                .create("c" + i, bytes("d" + i))
                                .id();
                        client.put(cache, bytes("k"), bytes("v" + i));
                        if (i >= 3) {
                            client.catalogue().destroy("c" + (i - 3));
                        }
                        made.getAndUpdate(was -> was < 0 ? was : was + 1);
                    }
                } catch (RuntimeException | Error e) {
                    failure.set(e);
                }
            });
            thread.start();
            for (int round = 0; round < 4; round++) {
                final long enough = made.get() + 10;
                await().until(() -> made.get() >= enough);
                cluster.snapshot(target.resolveSibling("copy" + round));
            }
            made.set(-1);
            thread.join();
            assertThat(failure.get()).isNull();
        }
        for (int round = 0; round < 4; round++) {
            try (EmbeddedCluster copy = open(settings(2, 2), target.resolveSibling("copy" + round));
                    RowanClient client = Stores.client(copy)) {
                copy.awaitDigested();
                final List<CacheRecord> caches = client.catalogue().list();
                assertThat(caches).hasSizeBetween(3, 5);
                for (CacheRecord cache : caches) {
                    final String number = cache.name().substring(1);
                    assertThat(cache.descriptor()).isEqualTo(bytes("d" + number));
                    final byte[] value = client.get(cache.id(), bytes("k"));
                    assertThat(value == null ? bytes("v" + number) : value).isEqualTo(bytes("v" + number));
                }
                final List<Integer> ids = caches.stream().map(CacheRecord::id).toList();
                for (int shard = 0; shard < 4; shard++) {
                    for (Server server : copy.servers()) {
                        assertThat(Stores.objects(server, shard).keySet())
                                .allSatisfy(name -> assertThat(ids)
                                        .contains(Integer.parseInt(name.substring(0, name.indexOf(':')))));
                    }
                }
                final int next =
                        client.catalogue().create("another", new byte[0]).id();
                assertThat(ids).allSatisfy(id -> assertThat(next).isGreaterThan(id));
            }
        }
    }

    /** Before the last step the target is no store to any reader: here, and wherever a crash leaves it. */
    @Test
    void shouldBeNoStoreUntilItIsWhole() throws IOException {
        final Path left = temporary.resolve("left");
        try (EmbeddedCluster cluster = open(settings(2, 2), dir);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < 300; k++) {
                client.put(cache, bytes("k" + k), value("k" + k, k, 1_000));
            }
            cluster.snapshot(target, (segments, of) -> {
                if (segments == of) {
                    copyFiles(target, left);
                    assertThatThrownBy(() -> open(settings(2, 2), target)).isInstanceOf(StoreOpenException.class);
                    assertThatThrownBy(() -> cluster.snapshot(temporary.resolve("second")))
                            .isInstanceOf(StoreOpenException.class)
                            .hasMessageContaining("already being copied or compared");
                }
            });
            assertThat(left.resolve("area-1.rowan")).exists();
            assertThatThrownBy(() -> open(settings(2, 2), left))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("holds no Rowan-KV store");
            assertThatThrownBy(() -> cluster.snapshot(left))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("holds no Rowan-KV store, but other files");
            assertThatThrownBy(() -> cluster.snapshot(target))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("holds a Rowan-KV store already");
            assertThatThrownBy(() -> cluster.snapshot(dir.resolve("inside")))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("lies in the store's own directory");
            Stores.requireHealth(cluster);
        }
    }

    private static void copyFiles(Path from, Path to) {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path file : all.sorted().toList()) {
                if (!file.getFileName().toString().equals("rowan.lock")) {
                    Files.copy(file, to.resolve(from.relativize(file).toString()));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldLeaveNothingBehindWhenItFails() {
        try (EmbeddedCluster cluster = open(settings(1, 1), dir);
                RowanClient client = Stores.client(cluster)) {
            client.put(Stores.cache(client), bytes("k"), bytes("v"));
            assertThatThrownBy(() -> cluster.snapshot(target, (segments, of) -> {
                        assertThat(pinned(cluster)).isEqualTo(of - segments);
                        throw new IllegalStateException("planned");
                    }))
                    .hasMessage("planned");
            assertThat(target).doesNotExist();
            assertThat(target.getParent()).doesNotExist();
            assertThat(pinned(cluster)).isZero();
            cluster.snapshot(target);
        }
        try (EmbeddedCluster copy = open(settings(1, 1), target);
                RowanClient client = Stores.client(copy)) {
            assertThat(client.get(Stores.cache(client), bytes("k"))).isEqualTo(bytes("v"));
        }
    }

    /** Nearly full, and the target makes no progress: writers need the pinned segments, and get them. */
    @Test
    void shouldLetWritesGoFirstWhereTheStoreIsNearlyFull() {
        final WriterModel model = new WriterModel(2, 200, 3_500);
        try (EmbeddedCluster cluster = open(settings(2, 2), dir);
                RowanClient client = Stores.client(cluster);
                WriterModel.Running running = model.start(cluster, Stores.cache(client))) {
            running.awaitWrites(3_000);
            assertThatThrownBy(() -> cluster.snapshot(target, (segments, of) -> {
                        if (segments == 1) {
                            // Writes use up the free segments; then none proceeds until the cleaner's wait is over.
                            await().until(() -> {
                                aheadNs.addAndGet(SegmentPins.PATIENCE_NS / 4);
                                return cluster.statistics().stream().anyMatch(each -> each.pinnedSegments() == 0);
                            });
                        }
                    }))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("writes go first");
            assertThat(target).doesNotExist();
            running.awaitWrites(1_000);
        }
        model.requireSettled();
    }

    @Test
    void shouldBeGivenUpWhenTheStoreIsClosed() throws Exception {
        final EmbeddedCluster cluster = open(settings(1, 1), dir);
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        for (int k = 0; k < 300; k++) {
            client.put(cache, bytes("k" + k), value("k" + k, k, 1_000));
        }
        final Thread closer = new Thread(cluster::close);
        assertThatThrownBy(() -> cluster.snapshot(target, (segments, of) -> {
                    if (segments == 1) {
                        closer.start();
                        // It waits for the test, and has reported that.
                        await().until(() -> closer.getState() == Thread.State.WAITING);
                    }
                }))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("is being closed");
        closer.join();
        assertThat(target).doesNotExist();
        assertThatThrownBy(() -> cluster.snapshot(target)).isInstanceOf(StoreOpenException.class);
        open(settings(1, 1), dir).close();
    }

    /** A store without a directory can get one in this way. */
    @Test
    void shouldKeepWhatIsInMemoryOnly() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings(2, 2)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < 100; k++) {
                client.put(cache, bytes("k" + k), value("k" + k, k, 20_000));
            }
            cluster.snapshot(target);
        }
        try (EmbeddedCluster copy = open(settings(2, 2), target);
                RowanClient client = Stores.client(copy)) {
            for (int k = 0; k < 100; k++) {
                assertThat(client.get(Stores.cache(client), bytes("k" + k))).isEqualTo(value("k" + k, k, 20_000));
            }
            Stores.requireHealth(copy);
        }
    }

    /** A copy is whole or absent: damage is named. */
    @Test
    void shouldNameWhatIsDamagedAndMakeNoCopy() {
        try (EmbeddedCluster cluster = open(settings(1, 1).andThen(with -> with.scrubMibPerSecond = 0), dir);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int k = 0; k < 300; k++) {
                client.put(cache, bytes("k" + k), value("k" + k, k, 1_000));
            }
            final Segments segments = cluster.servers().get(0).segments();
            final List<Long> places = new ArrayList<>();
            final SegmentScan scan = new SegmentScan(segments.region());
            for (int s = 0; s < segments.count(); s++) {
                if (segments.isClosed(s)) {
                    scan.scan(
                            segments.area().addressOf(s),
                            segments.length(),
                            segments.generation(s),
                            new SegmentScan.Visitor() {
                                @Override
                                public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
                                    places.add(address);
                                }

                                @Override
                                public void onInvalid(long address, String reason) {
                                    throw new AssertionError(reason);
                                }
                            });
                }
            }
            final long address = places.get(places.size() / 2);
            final ByteBuffer buffer = segments.region().buffer(address);
            final int at = segments.region().offset(address) + FrameDescriptor.STRIDE;
            buffer.put(at, (byte) (buffer.get(at) ^ 1));
            assertThatThrownBy(() -> cluster.snapshot(target))
                    .isInstanceOf(StoreOpenException.class)
                    .hasMessageContaining("server 0")
                    .hasMessageContaining("offset " + address);
            assertThat(target).doesNotExist();
            buffer.put(at, (byte) (buffer.get(at) ^ 1));
            assertThat(pinned(cluster)).isZero();
        }
    }
}
