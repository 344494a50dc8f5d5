package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.cache.Cache.ValueRetrievalException;
import org.springframework.cache.support.SimpleValueWrapper;

final class CacheLoadsTest {
    private final CacheLoads loads = new CacheLoads();
    private final List<Object> stored = Collections.synchronizedList(new ArrayList<>());

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);

    private Object slowly(Object result) throws InterruptedException {
        begun.countDown();
        assertThat(end.await(30, TimeUnit.SECONDS)).isTrue();
        return result;
    }

    private CompletableFuture<Object> inBackground(Callable<?> loader) {
        final CompletableFuture<Object> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(loads.load("k", loader, () -> null, stored::add));
                    } catch (RuntimeException e) {
                        result.completeExceptionally(e);
                    }
                })
                .start();
        return result;
    }

    @Test
    void shouldStoreAndReturnWhatIsLoaded() {
        assertThat(loads.load("k", () -> "v", () -> null, stored::add)).isEqualTo("v");
        assertThat(stored).containsExactly("v");
    }

    /** A caller that finds nothing may be late: the load it has missed has ended, and its result is cached. */
    @Test
    void shouldNotLoadWhatAnEndedLoadHasCached() {
        assertThat(loads.load(
                        "k",
                        () -> {
                            throw new AssertionError("loaded again");
                        },
                        () -> new SimpleValueWrapper("v"),
                        stored::add))
                .isEqualTo("v");
        assertThat(stored).isEmpty();
    }

    @Test
    void shouldNotStoreWhatWasLoadedBeforeAnEviction() throws Exception {
        final CompletableFuture<Object> old = inBackground(() -> slowly("old"));
        begun.await();
        loads.evict("k");
        assertThat(loads.load("k", () -> "new", () -> null, stored::add)).isEqualTo("new");
        end.countDown();

        assertThat(old.get(30, TimeUnit.SECONDS)).isEqualTo("old");
        assertThat(stored).containsExactly("new");
    }

    @Test
    void shouldNotStoreWhatWasLoadedBeforeAClear() throws Exception {
        final CompletableFuture<Object> old = inBackground(() -> slowly("old"));
        begun.await();
        loads.evictAll();
        end.countDown();
        old.get(30, TimeUnit.SECONDS);

        assertThat(stored).isEmpty();
    }

    @Test
    void shouldGiveAFailureToAllWhoWait() throws Exception {
        final CompletableFuture<Object> first = inBackground(() -> {
            slowly("");
            throw new IllegalStateException("no database");
        });
        begun.await();
        final CompletableFuture<Object> second = inBackground(() -> "never");
        while (!second.isDone() && stored.isEmpty() && end.getCount() > 0) {
            end.countDown();
        }

        assertThatThrownBy(() -> first.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ValueRetrievalException.class)
                .hasRootCauseMessage("no database");
    }

    @Test
    void shouldLetALoaderAskForItsOwnKey() {
        assertThat(loads.load(
                        "k",
                        () -> loads.load("k", () -> "inner", () -> null, stored::add) + "!",
                        () -> null,
                        stored::add))
                .isEqualTo("inner!");
        assertThat(stored).containsExactly("inner!");
    }

    @Test
    void shouldLoadAgainAfterAFailure() {
        assertThatThrownBy(() -> loads.load(
                        "k",
                        () -> {
                            throw new IllegalStateException("once");
                        },
                        () -> null,
                        stored::add))
                .isInstanceOf(ValueRetrievalException.class)
                .hasRootCauseMessage("once");
        assertThat(loads.load("k", () -> "v", () -> null, stored::add)).isEqualTo("v");
    }
}
