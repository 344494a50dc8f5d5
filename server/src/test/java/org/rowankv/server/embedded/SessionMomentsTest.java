package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * A session at a real server: opened, used, and closed. At each named point of a request, late copies of the earlier
 * ones arrive on another thread. The process may also end there, so that they arrive after the next start.
 */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SessionMomentsTest {
    private static final long SESSION = 77;

    private final CallerThread second = CallerThread.ofAnotherContext();
    private final List<Left> left = new ArrayList<>();
    private SteppedStore store;
    private String key;
    private Step under;
    private long asOf;
    private long putVersion;

    /** Steps of the session and its object, in this order. */
    private enum Step {
        NOTHING,
        OPEN,
        PUT,
        /** By a client without a session. */
        REMOVE,
        CLOSE,
        END
    }

    /** The bytes after a kill in the middle of a step. */
    private record Left(Step under, KeptStore bytes) {}

    @AfterEach
    void leave() {
        Chaos.reset();
        second.close();
    }

    private static EmbeddedSettings settings(int servers) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = servers;
            with.shards = 3;
            with.workers = 2;
            with.segmentBytes = 64 << 10;
            with.capacityBytes = 26 << 16;
            with.maxMessage = 1024;
            with.scrubMibPerSecond = 0;
        });
    }

    private int cache() {
        return store.cluster().session().catalogue().create("c", new byte[0]).id();
    }

    private long hash(String name) {
        final byte[] bytes = bytes(name);
        return new KeyHash(store.cluster().configuration().hashSeed()).hash(cache(), bytes, 0, bytes.length);
    }

    private int shard() {
        return ShardMap.shardOf(hash(key), 3);
    }

    /** A key whose requests need another lock than the opening and closing of the session. */
    private void chooseKey() {
        int number = 0;
        do {
            key = "k" + number++;
        } while (KeyLocks.stripeOf(ShardMap.positionOf(hash(key), 3)) == KeyLocks.stripeOf(SESSION));
    }

    private Request call(Request request) {
        store.cluster().session().call(request);
        return request;
    }

    private Request put() {
        final byte[] name = bytes(key);
        final Request request = new Request().put(cache(), name, 0, name.length, name, 0, name.length);
        request.placed(hash(key), shard());
        request.identified(SESSION, 1, 0);
        return call(request);
    }

    private Request remove() {
        final byte[] name = bytes(key);
        final Request request = new Request().delete(cache(), name, 0, name.length);
        request.placed(hash(key), shard());
        return call(request);
    }

    private Request get() {
        final byte[] name = bytes(key);
        final Request request = new Request().get(cache(), name, 0, name.length);
        request.placed(hash(key), shard());
        return call(request);
    }

    private Request open() {
        return call(new Request().openSession(shard(), SESSION, asOf));
    }

    private void take(Step step) {
        under = step;
        switch (step) {
            case OPEN -> {
                asOf = open().version(); // the first answer provides a version of the shard
                assertThat(open().status()).isEqualTo(Status.OK);
            }
            case PUT -> putVersion = put().version();
            case REMOVE -> assertThat(remove().status()).isEqualTo(Status.OK);
            case CLOSE ->
                assertThat(call(new Request().closeSession(shard(), SESSION)).status())
                        .isEqualTo(Status.OK);
            case NOTHING, END -> {}
        }
    }

    /** Late copies of requests answered before that step, unless they need a lock that is held. */
    private void deliverLateCopies(Step during) {
        if (during.compareTo(Step.OPEN) > 0 && during != Step.CLOSE) {
            assertThat(open().status()).isIn(Status.OK, Status.SESSION_EXPIRED);
        }
        if (during.compareTo(Step.PUT) > 0 && during != Step.REMOVE) {
            final Request late = put();
            assertThat(late.status()).isIn(Status.OK, Status.SESSION_EXPIRED);
            if (late.status() == Status.OK) {
                assertThat(late.version()).as("applied once").isEqualTo(putVersion);
            }
        }
    }

    private void reached(String point) {
        if (!point.startsWith("request.")) {
            return;
        }
        Chaos.install(none -> {}); // not recursively
        left.add(new Left(under, store.kept().copy()));
        second.run(() -> deliverLateCopies(under));
        Chaos.install(this::reached);
    }

    private void requireObject(Step under) {
        final Request found = get();
        if (under.compareTo(Step.REMOVE) > 0) {
            assertThat(found.hasResult()).as("the object came back").isFalse();
        } else if (under == Step.REMOVE && found.hasResult()) {
            assertThat(found.version()).isEqualTo(putVersion);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldApplyNothingTwiceWhereverLateCopiesArrive(int servers) {
        store = SteppedStore.open(settings(servers), new KeptStore(), 1_000_000_000L, 1_700_000_000_000L, 1);
        chooseKey();
        Chaos.install(this::reached);
        for (Step step : Step.values()) {
            take(step);
        }
        Chaos.reset();
        deliverLateCopies(Step.END);
        requireObject(Step.END);
        assertThat(left.stream().map(Left::under)).contains(Step.OPEN, Step.PUT, Step.REMOVE, Step.CLOSE);
        int seed = 2;
        for (Left each : left) {
            final StoreHistory none = new StoreHistory(store, second);
            store = new ComparedStarts(none, each.bytes, seed++).next();
            requireObject(each.under);
            if (each.under.compareTo(Step.PUT) > 0) {
                // After a start every open session continues, and no earlier opening counts.
                assertThat(open().status()).isIn(Status.OK, Status.SESSION_EXPIRED);
                final Request late = put();
                if (late.status() == Status.OK) {
                    assertThat(late.version()).as("applied once").isEqualTo(putVersion);
                }
                requireObject(each.under);
            }
        }
    }
}
