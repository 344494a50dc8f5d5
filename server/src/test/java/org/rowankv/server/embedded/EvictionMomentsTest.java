package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * The eviction agent of a real store, stopped at each named point of the mutations by which it ends objects. Meanwhile
 * a client writes, and the process may end. Objects ended by then stay so, and other caches lose nothing.
 */
@Tag("chaos")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class EvictionMomentsTest {
    private static final int OBJECTS = 40;
    private static final int LIMIT = 24;
    private static final int STEPS = 50;

    private final CallerThread second = CallerThread.ofAnotherContext();
    private SteppedStore store;

    /** The bytes after a kill, and the objects visible at that moment. */
    private record Left(KeptStore bytes, Set<String> found) {}

    @AfterEach
    void leave() {
        Chaos.reset();
        second.close();
    }

    private int cache(String name) {
        return store.cluster().session().catalogue().create(name, new byte[0]).id();
    }

    private Request put(String cache, String key) {
        final int id = cache(cache);
        final byte[] name = bytes(key);
        final long hash = new KeyHash(store.cluster().configuration().hashSeed()).hash(id, name, 0, name.length);
        final Request request = new Request().put(id, name, 0, name.length, name, 0, name.length);
        request.placed(hash, ShardMap.shardOf(hash, 3));
        return request;
    }

    private void callPut(String cache, String key) {
        final Request request = put(cache, key);
        store.cluster().session().call(request);
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    /** Advances puts that may need what the eviction holds; answered ones are removed. */
    private void step(List<PollableCall> puts) {
        for (int i = 0; i < STEPS; i++) {
            puts.removeIf(PollableCall::step);
        }
    }

    /** By cache and key, on the primaries. */
    private Map<String, String> objects(IntPredicate ofCache) {
        final Map<String, String> objects = new HashMap<>();
        for (int shard = 0; shard < 3; shard++) {
            final int primary = store.cluster().configuration().shard(shard).primary();
            final Server server = store.cluster().servers().get(primary);
            Stores.objects(server, shard).forEach((key, object) -> {
                if (ofCache.test(Integer.parseInt(key.substring(0, key.indexOf(':'))))) {
                    objects.put(key, object);
                }
            });
        }
        return objects;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldEndForGoodWhateverComesInTheMiddle(int servers) {
        store = SteppedStore.open(
                EmbeddedSettings.of(with -> {
                    with.servers = servers;
                    with.replicas = servers;
                    with.shards = 3;
                    with.workers = 2;
                    with.segmentBytes = 64 << 10;
                    with.capacityBytes = 26 << 16;
                    with.maxMessage = 1024;
                    with.scrubMibPerSecond = 0;
                }),
                new KeptStore(),
                1_000_000_000L,
                1_700_000_000_000L,
                1);
        final int limited = cache("limited");
        final int other = cache("other");
        for (int i = 0; i < OBJECTS; i++) {
            callPut("limited", "k" + i);
            callPut("other", "k" + i);
        }
        store.settle();
        final List<Left> left = new ArrayList<>();
        final Set<String> points = new HashSet<>();
        final boolean[] writing = new boolean[1];
        final List<PollableCall> puts = new ArrayList<>();
        final int[] begun = new int[1];
        Chaos.install(point -> {
            if (writing[0] || !point.startsWith("request.")) {
                return;
            }
            points.add(point);
            writing[0] = true;
            left.add(new Left(store.kept().copy(), objects(id -> id == limited).keySet()));
            second.run(() -> {
                if (puts.isEmpty()) {
                    final Request put = put("limited", "k" + left.size() % OBJECTS);
                    final int primary =
                            store.cluster().configuration().shard(put.shard()).primary();
                    puts.add(store.cluster().servers().get(primary).requests().stepped(put));
                    begun[0]++;
                }
                step(puts);
            });
            writing[0] = false;
        });

        store.cluster().session().catalogue().limit("limited", new CacheLimit(LIMIT, 0));
        store.settle();

        Chaos.reset();
        for (int step = 0; step < STEPS && !puts.isEmpty(); step++) {
            step(puts);
            store.agents().step(1);
        }
        assertThat(puts).as("puts that are not answered").isEmpty();
        assertThat(begun[0]).as("puts in the middle").isPositive();
        store.settle();
        assertThat(points).contains("request.after-version", "request.after-tlog", "request.before-index");
        assertThat(objects(id -> id == limited)).hasSizeBetween(LIMIT / 2, LIMIT);
        assertThat(store.cluster().session().catalogue().evictions(limited))
                .isBetween(
                        (long) OBJECTS - objects(id -> id == limited).size(),
                        (long) OBJECTS + begun[0] - objects(id -> id == limited).size());
        assertThat(objects(id -> id == other)).hasSize(OBJECTS);
        for (int i = 0; i < left.size(); i += Math.max(1, left.size() / 8)) {
            final Left each = left.get(i);
            store = new ComparedStarts(new StoreHistory(store, second), each.bytes, i + 2).next();
            final Set<String> back = new HashSet<>(objects(id -> id == limited).keySet());
            back.removeAll(each.found);
            assertThat(back).as("what was gone, and was not being put").hasSizeLessThanOrEqualTo(1);
            assertThat(objects(id -> id == limited)).hasSizeLessThanOrEqualTo(LIMIT);
            assertThat(objects(id -> id == other)).hasSize(OBJECTS);
        }
    }
}
