package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.WriteResult;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Threads that put and remove their own keys without end, with a record of every write and its version: the content of
 * a store as of any version of a shard follows from it.
 */
public final class WriterModel {
    private static final int REMOVAL = -1;
    /** Below that number agents begin to wait for each other. */
    private static final int FEW_SEGMENTS = 10;

    /** One applied write. */
    private record Write(long version, int number) {}

    private static final class Key {
        final String name;
        final List<Write> writes = new ArrayList<>();
        volatile int attempted;
        volatile int acknowledged;
        int shard;

        Key(String name) {
            this.name = name;
        }
    }

    private final List<List<Key>> keys = new ArrayList<>();
    private final int length;
    private final AtomicLong written = new AtomicLong();
    private volatile @Nullable Throwable failure;

    public WriterModel(int threads, int keysOfEach, int length) {
        this.length = length;
        for (int thread = 0; thread < threads; thread++) {
            final List<Key> own = new ArrayList<>();
            for (int k = 0; k < keysOfEach; k++) {
                own.add(new Key("t" + thread + "k" + k));
            }
            keys.add(own);
        }
    }

    /** The writers, until closed. */
    public final class Running implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stop;

        /** Waits until that many more writes were acknowledged. */
        public void awaitWrites(int more) {
            final long enough = written.get() + more;
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> {
                        requireNoFailure();
                        return written.get() >= enough;
                    });
        }

        /** The same, unless writers themselves may be waiting for a free segment. */
        public void awaitWritesOrPressure(int more, EmbeddedCluster cluster) {
            final long enough = written.get() + more;
            await().atMost(Duration.ofSeconds(60))
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> {
                        requireNoFailure();
                        return written.get() >= enough
                                || cluster.statistics().stream()
                                        .anyMatch(each -> each.segments().free() <= FEW_SEGMENTS);
                    });
        }

        @Override
        public void close() {
            stop = true;
            for (Thread thread : threads) {
                try {
                    thread.join();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    public Running start(EmbeddedCluster cluster, int cache) {
        final Configuration configuration = cluster.configuration();
        final KeyHash hash = new KeyHash(configuration.hashSeed());
        final Running running = new Running();
        for (int t = 0; t < keys.size(); t++) {
            final List<Key> own = keys.get(t);
            for (Key key : own) {
                final byte[] name = bytes(key.name);
                key.shard = ShardMap.shardOf(hash.hash(cache, name, 0, name.length), configuration.shardCount());
            }
            final long seed = 100L + t;
            final Thread thread = new Thread(() -> {
                try (RowanClient client = Stores.client(cluster, seed)) {
                    for (int i = 0; !running.stop; i++) {
                        write(client, cache, own.get((int) (i * 7919L % own.size())), i);
                    }
                } catch (RuntimeException | Error e) {
                    failure = e;
                }
            });
            running.threads.add(thread);
            thread.start();
        }
        return running;
    }

    private void write(RowanClient client, int cache, Key key, int i) {
        final int number = key.attempted + 1;
        key.attempted = number; // one thread writes it
        final boolean removal = i % 5 == 4;
        try {
            final WriteResult result = removal
                    ? client.remove(cache, bytes(key.name))
                    : client.put(cache, bytes(key.name), value(key.name, number, length));
            if (result.applied()) {
                key.writes.add(new Write(result.version(), removal ? REMOVAL : number));
            }
        } catch (StoreFullException e) {
            // A small store may be full for a moment while nothing is freed; then nothing was written.
            LockSupport.parkNanos(100_000);
        }
        key.acknowledged = number;
        written.incrementAndGet();
    }

    private void requireNoFailure() {
        final Throwable thrown = failure;
        if (thrown != null) {
            throw new AssertionError("a writer failed", thrown);
        }
    }

    /** Acknowledged writes of each key. */
    public List<Integer> acknowledged() {
        return all().stream().map(key -> key.acknowledged).toList();
    }

    /** Begun writes of each key. */
    public List<Integer> attempted() {
        return all().stream().map(key -> key.attempted).toList();
    }

    private final List<Runnable> bounds = new ArrayList<>();

    /**
     * Checked by {@link #requireSettled}, after the writers have ended: earlier acknowledged writes are included, later
     * begun ones are not.
     */
    public void requireBetween(List<Integer> before, List<Long> versions, List<Integer> after) {
        bounds.add(() -> {
            for (int k = 0; k < before.size(); k++) {
                final Key key = all().get(k);
                final long version = versions.get(key.shard);
                for (Write write : key.writes) {
                    if (write.number() == REMOVAL) {
                        continue;
                    }
                    if (write.number() <= before.get(k)) {
                        assertThat(write.version()).as(key.name).isLessThanOrEqualTo(version);
                    }
                    if (write.number() > after.get(k)) {
                        assertThat(write.version()).as(key.name).isGreaterThan(version);
                    }
                }
            }
        });
    }

    /** After the writers have ended: none has failed, and all recorded checks pass. */
    public void requireSettled() {
        requireNoFailure();
        bounds.forEach(Runnable::run);
        assertThat(all()).allSatisfy(key -> assertThat(key.acknowledged).isEqualTo(key.attempted));
    }

    /** The store holds, for each key, the result of the last write up to its shard's version. */
    public void requireContent(RowanClient client, int cache, List<Long> versions) {
        int present = 0;
        for (Key key : all()) {
            int expected = REMOVAL;
            for (Write write : key.writes) {
                if (write.version() <= versions.get(key.shard)) {
                    expected = write.number();
                }
            }
            final byte[] found = client.get(cache, bytes(key.name));
            assertThat(found == null ? REMOVAL : (int) numberOf(key.name, found))
                    .as("%s of shard %d", key.name, key.shard)
                    .isEqualTo(expected);
            present += found == null ? 0 : 1;
        }
        assertThat(present).isPositive();
    }

    private List<Key> all() {
        return keys.stream().flatMap(List::stream).toList();
    }
}
