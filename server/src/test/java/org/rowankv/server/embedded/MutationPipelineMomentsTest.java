package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.dispatch.MutationPipeline;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Events in the worker contexts of an event loop between two of its steps. Single-threaded. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class MutationPipelineMomentsTest {
    private static final int SHARDS = 2;
    private static final int STEPS = 10;
    private static final String KEY = "k";

    private SteppedStore store;
    private Server server;
    private MutationPipeline calls;
    private int cache;

    @BeforeEach
    void open() {
        store = SteppedStore.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                    with.shards = SHARDS;
                    with.workers = 1;
                    with.segmentBytes = 64 << 10;
                    with.capacityBytes = 26 << 16;
                    with.maxMessage = 1024;
                    with.scrubMibPerSecond = 0;
                }),
                new KeptStore(),
                1_000_000_000L,
                1_700_000_000_000L,
                1);
        cache = store.cluster().session().catalogue().create("c", new byte[0]).id();
        server = store.cluster()
                .servers()
                .get(store.cluster().configuration().shard(shard()).primary());
        calls = server.callsOfLoop(0, 1);
        store.settle();
    }

    @AfterEach
    void leave() {
        Chaos.reset();
    }

    private long hash() {
        final byte[] key = bytes(KEY);
        return new KeyHash(store.cluster().configuration().hashSeed()).hash(cache, key, 0, key.length);
    }

    private int shard() {
        return ShardMap.shardOf(hash(), SHARDS);
    }

    private Request put(String value) {
        final Request put = new Request().put(cache, bytes(KEY), 0, KEY.length(), bytes(value), 0, value.length());
        put.placed(hash(), shard());
        return put;
    }

    private byte[] read() {
        final Request get = new Request().get(cache, bytes(KEY), 0, KEY.length());
        get.placed(hash(), shard());
        server.requests().call(get);
        return get.resultBytes();
    }

    private void requireAnswered(Request put) {
        final PollableCall call = calls.callOf(put);
        assertThat(call.step()).as("the backup has not acknowledged yet").isFalse();
        boolean answered = false;
        for (int i = 0; i < STEPS && !answered; i++) {
            calls.poll();
            answered = call.step();
        }
        assertThat(answered).isTrue();
        assertThat(put.status()).isEqualTo(Status.OK);
        assertThat(put.version()).isEqualTo(server.lastVersion(shard()));
    }

    /** Another thread completes the mutation after an error, before the loop acquires the context again. */
    @ParameterizedTest
    @ValueSource(strings = {"request.after-version", "request.after-tlog", "request.before-index"})
    void shouldLeaveTheNextRequestAloneWhenAnErrorHasStruckTheOneBefore(String struckAt) {
        requireAnswered(put("0"));
        Chaos.install(point -> {
            if (point.equals(struckAt)) {
                throw new StackOverflowError(point);
            }
        });
        final PollableCall struck = calls.callOf(put("1"));
        assertThatThrownBy(() -> {
                    for (int i = 0; i < STEPS; i++) {
                        struck.step();
                        calls.poll();
                    }
                })
                .isInstanceOf(StackOverflowError.class);
        Chaos.reset();
        assertThat(server.spaceRequests().releaseGrants())
                .as("every context is free and idle")
                .isTrue();

        for (int i = 2; i < 5; i++) {
            requireAnswered(put("" + i));
            assertThat(read()).isEqualTo(bytes("" + i));
        }
    }

    @Test
    void shouldGiveBackInItsNextTurnWhatItHasDrawnAheadForAnotherThatWantsSpace() {
        final PollableCall call = calls.callOf(put("value"));
        assertThat(call.step()).isFalse();
        assertThat(server.spaceRequests().releaseGrants())
                .as("the context is in use")
                .isFalse();
        final long left = server.segments().space().available();

        calls.poll();
        assertThat(server.segments().space().available()).isGreaterThan(left);
        assertThat(call.step()).isTrue();
    }
}
