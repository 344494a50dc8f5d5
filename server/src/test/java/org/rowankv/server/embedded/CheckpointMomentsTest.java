package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.embedded.StoreHistory.Kind;
import org.rowankv.server.embedded.StoreHistory.Step;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Checkpoint agents stopped at each of their named points while clients continue. The test runs every other agent. At
 * each point the store is restarted with the checkpoints and without them.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CheckpointMomentsTest {
    private static final List<String> POINTS = List.of(
            "checkpoint.begun",
            "checkpoint.chosen",
            "checkpoint.image",
            "checkpoint.before-publish",
            "checkpoint.published");
    private static final int FILLING = 24;

    private final CallerThread second = CallerThread.ofAnotherContext();
    private final Request request = new Request();
    private SteppedStore store;
    private StoreHistory history;

    @AfterEach
    void leave() {
        Chaos.reset();
        second.close();
    }

    private void open(int servers, Durability level) {
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
                    with.durability = level;
                    with.checkpointIntervalMs = 5;
                }),
                new KeptStore(),
                1_000_000_000L,
                1_700_000_000_000L,
                1);
        store.agents().hold("checkpoint-");
        history = new StoreHistory(store, second);
    }

    private void take(Kind... kinds) {
        for (int i = 0; i < kinds.length; i++) {
            history.take(new Step(kinds[i], 31 * i + kinds[i].ordinal()));
        }
    }

    private void requireSameStarts(KeptStore left, boolean fromCheckpoint) {
        assertThat(new ComparedStarts(history, left, 7).isFromCheckpoint()).isEqualTo(fromCheckpoint);
    }

    // --- requests ---

    private int cache() {
        return store.cluster()
                .session()
                .catalogue()
                .create("moments", new byte[0])
                .id();
    }

    private int shardOf(String key) {
        return ShardMap.shardOf(hash(key), store.cluster().configuration().shardCount());
    }

    private long hash(String key) {
        final byte[] name = bytes(key);
        return new KeyHash(store.cluster().configuration().hashSeed()).hash(cache(), name, 0, name.length);
    }

    private void put(String key, int length) {
        final byte[] name = bytes(key);
        final byte[] value = Stores.value(key, 1, length);
        request.put(cache(), name, 0, name.length, value, 0, value.length).placed(hash(key), shardOf(key));
        store.cluster().session().call(request);
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    private void remove(String key) {
        final byte[] name = bytes(key);
        request.delete(cache(), name, 0, name.length).placed(hash(key), shardOf(key));
        store.cluster().session().call(request);
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    /** Closes the log of the caller's worker context. */
    private void fillLog() {
        for (int i = 0; i < FILLING; i++) {
            put("filling" + i, 2_800);
        }
    }

    private void stepCheckpoints(int times) {
        store.clock().advanceMs(5);
        for (int i = 0; i < times; i++) {
            store.agents().stepCheckpoints();
        }
    }

    // --- tests ---

    /** Writes at every point, one pass after the other; at every point the process may end. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldBeOfUseOrOfNoneWhereverItIsCutOff(int servers) {
        open(servers, Durability.NONE);
        take(Kind.OPEN_SESSION, Kind.OPEN_SESSION, Kind.PUT, Kind.PUT, Kind.BURY, Kind.CYCLES, Kind.CHECKPOINT);
        final List<KeptStore> left = new ArrayList<>();
        final Kind[][] meanwhile = {
            {Kind.PUT, Kind.BURY, Kind.CLOSE_SESSION},
            {Kind.CLEAR, Kind.PUT, Kind.REMOVE, Kind.OPEN_SESSION},
            {Kind.DESTROY, Kind.TOUCH, Kind.CHURN},
            {Kind.PUT, Kind.RETRY, Kind.CHURN, Kind.CLEAR},
            {Kind.BURY, Kind.PUT, Kind.REMOVE}
        };
        final boolean[] writing = new boolean[1];
        Chaos.install(point -> {
            final int number = POINTS.indexOf(point);
            if (number < 0 || writing[0]) {
                return;
            }
            left.add(store.kept().copy());
            writing[0] = true;
            take(meanwhile[(number + left.size()) % meanwhile.length]);
            writing[0] = false;
            left.add(store.kept().copy());
        });
        for (int round = 0; round < 3; round++) {
            take(Kind.CHECKPOINT, Kind.CYCLES);
        }
        final List<Long> hits = POINTS.stream().map(Chaos::hits).toList();
        Chaos.reset();
        assertThat(hits).allMatch(times -> times > 0);
        for (int i = 0; i < left.size(); i += Math.max(1, left.size() / 12)) {
            requireSameStarts(left.get(i), true);
        }
    }

    /** What was removed since the last CommitVer lies in a closed segment; the removed object lies in an open one. */
    @Test
    void shouldAwaitThatWhatItCoversHasSettled() {
        open(1, Durability.NONE);
        put("settled", 100);
        store.agents().step(100);
        put("k", 100);
        second.run(() -> {
            remove("k");
            fillLog();
        });
        final long taken = store.cluster().checkpoints().taken();

        stepCheckpoints(20);

        assertThat(store.cluster().checkpoints().taken()).isEqualTo(taken);
        requireSameStarts(store.kept().copy(), false);
        store.takeCheckpoints();
        assertThat(store.cluster().checkpoints().taken()).isGreaterThan(taken);
        requireSameStarts(store.kept().copy(), true);
    }

    /** As above, after CommitVer arrived: then the checkpoint itself records the removal. */
    @Test
    void shouldSayThatAnOldCopyIsOver() {
        open(1, Durability.NONE);
        put("k", 100);
        second.run(() -> {
            remove("k");
            fillLog();
        });
        store.agents().step(100);
        stepCheckpoints(20);
        assertThat(store.cluster().checkpoints().taken()).isEqualTo(1);

        requireSameStarts(store.kept().copy(), true);
    }

    /** Tombstones that the start need not read; of what the one has cleared, nothing is left to sweep. */
    @Test
    void shouldKnowWhatWasDestroyedAndForgetWhatWasCleared() {
        open(1, Durability.NONE);
        final Catalogue caches = store.cluster().session().catalogue();
        final int destroyed = caches.create("destroyed", new byte[0]).id();
        final int cleared = caches.create("cleared", new byte[0]).id();
        second.run(() -> {
            caches.destroy("destroyed");
            for (int shard = 0; shard < store.cluster().configuration().shardCount(); shard++) {
                store.cluster().session().call(request.clear(cleared, shard));
            }
            fillLog();
        });
        store.agents().step(100);
        stepCheckpoints(20);
        assertThat(store.cluster().checkpoints().taken()).isEqualTo(1);

        final ComparedStarts starts = new ComparedStarts(history, store.kept().copy(), 7);

        assertThat(starts.isFromCheckpoint()).isTrue();
        starts.state()
                .replicas()
                .forEach(
                        (name, replica) -> assertThat(replica.clears()).as(name).containsOnlyKeys(destroyed));
        store = starts.next();
        final byte[] key = bytes("k");
        request.put(destroyed, key, 0, key.length, key, 0, key.length).placed(hash("k"), shardOf("k"));
        store.cluster().session().call(request);
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
    }

    /** A backup's index refers to landed entries that are on no device; then the power fails. */
    @Test
    void shouldMakeDurableWhatItsImagesHaveSeen() {
        open(3, Durability.POWER);
        int number = 0;
        while (store.cluster().configuration().shard(shardOf("k" + number)).primary() != 0) {
            number++;
        }
        final String key = "k" + number;
        put(key, 100);
        for (int i = 0; i < 3; i++) {
            fillLog();
        }
        store.agents().step(200);
        store.takeCheckpoints();
        final List<KeptStore> left = new ArrayList<>();
        final long taken = store.cluster().checkpoints().taken();
        store.agents().hold("force-", "checkpoint-0", "checkpoint-2");
        store.clock().advanceMs(5);
        Chaos.install(point -> {
            if (left.isEmpty() && point.equals("checkpoint.published")) {
                left.add(store.kept().copy());
                store.agents().hold("checkpoint-");
            }
        });

        put(key, 200); // waits for all devices: meanwhile server 1 takes a checkpoint

        Chaos.reset();
        assertThat(store.cluster().checkpoints().taken()).isEqualTo(taken + 1);
        left.get(0).cutPower(new Random() {
            private static final long serialVersionUID = 1;

            @Override
            public int nextInt(int bound) {
                return 0; // keeps nothing that is on no device
            }
        });
        requireSameStarts(left.get(0), true);
    }
}
