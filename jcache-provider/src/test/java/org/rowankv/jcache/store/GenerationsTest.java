package org.rowankv.jcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.cache.CacheException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.model.ModelStore;
import org.rowankv.runtime.ManualClock;

/** One clear for each change of a generation, and what becomes of clients that end in the middle of one. */
@Timeout(120)
final class GenerationsTest {
    private static final byte[] KEY = {1};

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ModelStore store = new ModelStore(clock);
    private final RowanClient client = store.client();
    private final Generations generations = new Generations(client, clock, false);
    private int cacheId;

    @BeforeEach
    void create() {
        cacheId = client.catalogue().create("books", new byte[] {1}).id();
        client.put(cacheId, KEY, KEY);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private boolean isKept() {
        return client.get(cacheId, KEY) != null;
    }

    private void ensure(String generation) {
        generations.ensure("books", cacheId, generation);
    }

    /** What another client leaves: 'C' while it clears, 'D' once it is done. */
    private void stateOfAnother(char state, String generation) {
        final int own =
                client.catalogue().create(Generations.CACHE, new byte[0]).id();
        final byte[] text = generation.getBytes(StandardCharsets.UTF_8);
        client.put(
                own,
                ByteBuffer.allocate(4).putInt(cacheId).array(),
                ByteBuffer.allocate(9 + text.length)
                        .put((byte) state)
                        .putLong(clock.wallMs())
                        .put(text)
                        .array());
    }

    @Test
    void shouldClearOnceForEachChange() {
        ensure("one");
        assertThat(isKept()).as("content of before the first generation").isFalse();
        client.put(cacheId, KEY, KEY);
        ensure("one");
        assertThat(isKept()).isTrue();
        ensure("two");
        assertThat(isKept()).isFalse();
        client.put(cacheId, KEY, KEY);
        ensure("two");
        assertThat(isKept()).isTrue();
    }

    @Test
    void shouldWaitForTheClientThatClearsAndClearNothing() {
        stateOfAnother('C', "one");
        final CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> ensure("one"));
        assertThat(waiting).isNotDone();
        assertThat(isKept()).isTrue();
        stateOfAnother('D', "one");
        assertThat(waiting).succeedsWithin(30, TimeUnit.SECONDS);
        assertThat(isKept()).isTrue();
    }

    /** Also one that was given another generation: it must not write what the clear would remove. */
    @Test
    void shouldWaitForAClearOfAnotherGenerationAndThenClear() {
        stateOfAnother('C', "one");
        final CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> ensure("two"));
        assertThat(waiting).isNotDone();
        stateOfAnother('D', "one");
        assertThat(waiting).succeedsWithin(30, TimeUnit.SECONDS);
        assertThat(isKept()).isFalse();
    }

    @Test
    void shouldRefuseToOpenWhereAnotherClientDoesNotFinish() {
        stateOfAnother('C', "one");
        final CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> ensure("one"));
        await().until(() -> {
            clock.advanceMs(1_000);
            return waiting.isDone();
        });
        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(CacheException.class)
                .hasMessageContaining("\"one\"")
                .hasMessageContaining("a client that does not finish");
        assertThat(isKept()).isTrue();
    }

    /** By then the servers refuse what the other client may still have sent. */
    @Test
    void shouldClearInPlaceOfAClientThatHasLongEnded() {
        stateOfAnother('C', "one");
        clock.advanceMs(TimeUnit.MINUTES.toMillis(16));
        ensure("one");
        assertThat(isKept()).isFalse();
        client.put(cacheId, KEY, KEY);
        ensure("one");
        assertThat(isKept()).isTrue();
    }

    @Test
    void shouldNotWaitForAProcessThatEndedWhereThisIsTheOnlyOne() {
        stateOfAnother('C', "one");
        new Generations(client, clock, true).ensure("books", cacheId, "one");
        assertThat(isKept()).isFalse();
    }

    @Test
    void shouldForgetADestroyedCache() {
        generations.forget(cacheId);
        ensure("one");
        generations.forget(cacheId);
        final int own = client.catalogue().find(Generations.CACHE).id();
        assertThat(client.scan(own, false).hasNext()).isFalse();
    }

    @Test
    void shouldLeaveACacheOfAnApplicationAlone() {
        client.catalogue().create(Generations.CACHE, new byte[] {1});
        assertThatThrownBy(() -> ensure("one"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("destroy it, or use no generations");
        generations.forget(cacheId);
        assertThat(isKept()).isTrue();
    }
}
