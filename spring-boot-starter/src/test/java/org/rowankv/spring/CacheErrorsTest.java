package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;

final class CacheErrorsTest {
    private final List<String> asked = new ArrayList<>();
    private RuntimeException failure = new CacheException("refused");

    /** A cache that fails, but for removals. */
    private RowanSpringCache cache(CacheErrors errors) {
        @SuppressWarnings("unchecked")
        final Cache<Object, Object> failing = (Cache<Object, Object>) Proxy.newProxyInstance(
                Cache.class.getClassLoader(), new Class<?>[] {Cache.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getName")) {
                        return "books";
                    }
                    asked.add(method.getName());
                    if (method.getName().equals("remove")) {
                        return true;
                    }
                    throw failure;
                });
        return new RowanSpringCache(failing, new CacheFailures(errors, SystemClock.INSTANCE), Runnable::run);
    }

    private static RowanCacheErrorHandler handler(CacheErrors errors) {
        return new RowanCacheErrorHandler(new CacheFailures(errors, SystemClock.INSTANCE));
    }

    @Test
    void shouldLoadOnceWhenTheCacheFails() {
        final List<String> loaded = new ArrayList<>();

        assertThat(cache(CacheErrors.LOG).get("k", () -> {
                    loaded.add("k");
                    return "v";
                }))
                .isEqualTo("v");
        assertThat(loaded).hasSize(1);
        assertThat(asked).containsExactly("get", "get", "putIfAbsent");
    }

    @Test
    void shouldThrowIfItShall() {
        assertThatThrownBy(() -> cache(CacheErrors.THROW).get("k", () -> "v")).isSameAs(failure);
        assertThatThrownBy(() -> handler(CacheErrors.THROW).handleCacheGetError(failure, cache(CacheErrors.THROW), "k"))
                .isSameAs(failure);
    }

    @Test
    void shouldThrowWhatFailsToEvict() {
        final RowanCacheErrorHandler handler = handler(CacheErrors.LOG);

        assertThatCode(() -> handler.handleCacheGetError(failure, cache(CacheErrors.LOG), "k"))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> handler.handleCacheEvictError(failure, cache(CacheErrors.LOG), "k"))
                .isSameAs(failure);
        assertThatThrownBy(() -> handler.handleCacheClearError(failure, cache(CacheErrors.LOG)))
                .isSameAs(failure);
    }

    /** What the entry had before is older than what the application has now. */
    @Test
    void shouldRemoveWhatAFailedPutLeaves() {
        handler(CacheErrors.LOG).handleCachePutError(failure, cache(CacheErrors.LOG), "k", "v");

        assertThat(asked).containsExactly("remove");
    }

    @Test
    void shouldNotAskServersAgainThatCannotBeReached() {
        failure = new CacheException(new RowanException(Status.UNREACHABLE, "away"));
        handler(CacheErrors.LOG).handleCachePutError(failure, cache(CacheErrors.LOG), "k", "v");

        assertThat(asked).isEmpty();
    }

    /** While the application stops, a method still has its result. */
    @Test
    void shouldNotAskACacheAgainThatIsClosed() {
        failure = new IllegalStateException("closed");
        handler(CacheErrors.LOG).handleCachePutError(failure, cache(CacheErrors.LOG), "k", "v");

        assertThat(asked).isEmpty();
    }

    /** Its caches cannot be opened while it is unreachable. */
    private CacheManager manager(Cache<Object, Object> opened) {
        return (CacheManager) Proxy.newProxyInstance(
                Cache.class.getClassLoader(), new Class<?>[] {CacheManager.class}, (proxy, method, arguments) -> {
                    if (failure != null) {
                        throw failure;
                    }
                    return opened;
                });
    }

    @Test
    void shouldMissUntilACacheCanBeOpened() {
        failure = new CacheException(new RowanException(Status.UNREACHABLE, "away"));
        final List<String> created = new ArrayList<>();
        final RowanSpringCacheManager caches = new RowanSpringCacheManager(
                manager(cache(CacheErrors.LOG).getNativeCache()),
                new CacheFailures(CacheErrors.LOG, SystemClock.INSTANCE),
                Runnable::run,
                List.of("books"),
                cache -> created.add(cache.getName()));
        caches.afterPropertiesSet();
        final org.springframework.cache.Cache books = caches.getCache("books");

        assertThat(books.get("k", () -> "v")).isEqualTo("v");
        assertThatThrownBy(() -> books.evict("k")).isSameAs(failure);
        assertThat(created).isEmpty();

        failure = null;
        books.evict("k");
        assertThat(asked).containsExactly("remove");
        assertThat(created).containsExactly("books");
    }

    @Test
    void shouldNotOpenWhatIsRefused() {
        final RowanSpringCacheManager caches = new RowanSpringCacheManager(
                manager(cache(CacheErrors.LOG).getNativeCache()),
                new CacheFailures(CacheErrors.LOG, SystemClock.INSTANCE),
                Runnable::run,
                List.of(),
                cache -> {});
        caches.afterPropertiesSet();

        assertThatThrownBy(() -> caches.getCache("books")).isSameAs(failure);
    }
}
