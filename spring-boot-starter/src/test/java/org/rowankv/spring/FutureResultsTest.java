package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Cacheable methods that return futures or reactive types. */
final class FutureResultsTest {
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(CacheAutoConfiguration.class, RowanAutoConfiguration.class))
            .withPropertyValues("rowan.settings.capacity=16m", "rowan.settings.name=${random.uuid}")
            .withUserConfiguration(Library.class);

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(Books.class)
    static class Library {}

    static class Books {
        private final AtomicInteger calls = new AtomicInteger();
        private final CompletableFuture<String> pending = new CompletableFuture<>();

        public int calls() {
            return calls.get();
        }

        public CompletableFuture<String> pending() {
            return pending;
        }

        @Cacheable("futures")
        public CompletableFuture<String> future(String key) {
            calls.incrementAndGet();
            return CompletableFuture.completedFuture(key.startsWith("no") ? null : "of " + key);
        }

        @Cacheable("monos")
        public Mono<String> mono(String key) {
            calls.incrementAndGet();
            return key.startsWith("no") ? Mono.empty() : Mono.just("of " + key);
        }

        @Cacheable("fluxes")
        public Flux<String> flux(String key) {
            calls.incrementAndGet();
            return Flux.just(key, "and", key);
        }

        @Cacheable(value = "shared", sync = true)
        public CompletableFuture<String> shared(String key) {
            calls.incrementAndGet();
            return pending;
        }

        @CacheEvict("shared")
        public void forget(String key) {}

        @CacheEvict(value = "shared", allEntries = true)
        public void forgetAll() {}

        @Cacheable(value = "sharedMonos", sync = true)
        public Mono<String> sharedMono(String key) {
            calls.incrementAndGet();
            return Mono.fromFuture(pending);
        }
    }

    @Test
    void shouldCacheWhatAFutureBrings() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            for (int i = 0; i < 3; i++) {
                assertThat(books.future("1").get()).isEqualTo("of 1");
                assertThat(books.future("none").get()).isNull();
            }
            assertThat(books.calls()).isEqualTo(2);
        });
    }

    @Test
    void shouldCacheWhatAMonoBrings() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            for (int i = 0; i < 3; i++) {
                assertThat(books.mono("1").block()).isEqualTo("of 1");
                assertThat(books.mono("none").block()).isNull();
                assertThat(books.flux("x").collectList().block()).containsExactly("x", "and", "x");
            }
            assertThat(books.calls()).isEqualTo(3);
        });
    }

    @Test
    void shouldLoadOnceForAllThatWaitForAFuture() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            final List<CompletableFuture<String>> results = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                results.add(books.shared("k"));
            }
            assertThat(results).noneMatch(CompletableFuture::isDone);
            books.pending().complete("v");
            for (CompletableFuture<String> result : results) {
                assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("v");
            }
            assertThat(books.shared("k").get()).isEqualTo("v");
            assertThat(books.calls()).isEqualTo(1);
        });
    }

    @Test
    void shouldNotCacheAFutureThatWasEvictedMeanwhile() {
        requireLoadedAgainAfter(books -> books.forget("k"));
    }

    @Test
    void shouldNotCacheAFutureThatWasClearedMeanwhile() {
        requireLoadedAgainAfter(Books::forgetAll);
    }

    private void requireLoadedAgainAfter(Consumer<Books> eviction) {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            final CompletableFuture<String> old = books.shared("k");
            eviction.accept(books);
            books.pending().complete("old");
            assertThat(old.get()).isEqualTo("old");
            assertThat(books.shared("k").get()).isEqualTo("old");
            assertThat(books.calls()).as("loaded again").isEqualTo(2);
        });
    }

    @Test
    void shouldGiveTheFailureOfAFutureToAllThatWaitAndNotKeepIt() {
        application.run(context -> {
            final Books books = context.getBean(Books.class);
            final CompletableFuture<String> first = books.shared("k");
            final CompletableFuture<String> second = books.shared("k");
            final Mono<String> mono = books.sharedMono("k");
            final CompletableFuture<String> ofMono = mono.toFuture();
            books.pending().completeExceptionally(new IllegalStateException("no database"));
            for (CompletableFuture<String> each : List.of(first, second, ofMono)) {
                assertThatThrownBy(each::get)
                        .isInstanceOf(ExecutionException.class)
                        .hasRootCauseMessage("no database");
            }
            assertThat(books.calls()).as("one load for all").isEqualTo(2);
            assertThatThrownBy(() -> books.shared("k").get()).hasRootCauseMessage("no database");
            assertThat(books.calls()).isEqualTo(3);
        });
    }
}
