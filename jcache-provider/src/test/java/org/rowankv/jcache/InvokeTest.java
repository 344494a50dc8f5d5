package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorException;
import javax.cache.processor.EntryProcessorResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.jcache.model.ModelCaches;

@Timeout(120)
@Tag("jvm")
class InvokeTest {
    private static final EntryProcessor<String, Long, Long> INCREMENT = (entry, arguments) -> {
        entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
        return entry.getValue();
    };

    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, Long> counters =
            caches.create(new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
    private final Cache<String, String> cache = caches.create();

    @AfterEach
    void close() {
        caches.close();
    }

    private static void inThreads(int count, Consumer<Integer> work) throws InterruptedException {
        final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int number = i;
            final Thread thread = new Thread(() -> work.accept(number));
            thread.setUncaughtExceptionHandler((which, failure) -> failures.add(failure));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldLoseNoUpdateUnderContention() throws Exception {
        inThreads(16, thread -> {
            for (int i = 0; i < 2_000; i++) {
                counters.invoke("k", INCREMENT);
                if (i % 100 == 0) {
                    counters.invoke("k" + thread, INCREMENT);
                }
            }
        });
        assertThat(counters.get("k")).isEqualTo(32_000);
        assertThat(counters.get("k3")).isEqualTo(20);
    }

    @Test
    void shouldCreateOnceAmongMany() throws Exception {
        final CyclicBarrier barrier = new CyclicBarrier(8);
        final AtomicInteger created = new AtomicInteger();
        for (int round = 0; round < 200; round++) {
            final String key = "r" + round;
            inThreads(8, thread -> {
                await(barrier);
                final Boolean mine = counters.invoke(key, (entry, arguments) -> {
                    if (entry.exists()) {
                        return false;
                    }
                    entry.setValue(1L);
                    return true;
                });
                if (mine) {
                    created.incrementAndGet();
                }
            });
        }
        assertThat(created).hasValue(200);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldMixWithPlainOperationsOnTheSameKey() throws Exception {
        final AtomicLong added = new AtomicLong();
        counters.put("k", 0L);
        inThreads(4, thread -> {
            for (int i = 0; i < 2_000; i++) {
                if (thread < 2) {
                    counters.invoke("k", INCREMENT);
                    added.incrementAndGet();
                } else {
                    final Long seen = counters.get("k");
                    if (counters.replace("k", seen, seen + 1)) {
                        added.incrementAndGet();
                    }
                }
            }
        });
        assertThat(counters.get("k")).isEqualTo(added.get());
    }

    @Test
    void shouldLetProcessorsUseOtherKeysAndCaches() throws Exception {
        // Each processor invokes the other's key: neither may block the other for ever.
        inThreads(4, thread -> {
            final String mine = "k" + thread % 2;
            final String theirs = "k" + (thread + 1) % 2;
            for (int i = 0; i < 300; i++) {
                counters.invoke(mine, (entry, arguments) -> {
                    counters.invoke(theirs, INCREMENT);
                    cache.put(mine, "x");
                    return null;
                });
            }
        });
        assertThat(counters.get("k0") + counters.get("k1")).isGreaterThanOrEqualTo(1_200);
    }

    @Test
    void shouldSayThatAProcessorDisturbsItself() {
        assertThatThrownBy(() -> counters.invoke("k", (entry, arguments) -> {
                    counters.put("k", 5L);
                    entry.setValue(6L);
                    return null;
                }))
                .isInstanceOf(EntryProcessorException.class)
                .hasMessageContaining("its own key");
        assertThat(counters.get("k")).isEqualTo(5);
        counters.invoke("k", (entry, arguments) -> counters.get("k"));
    }

    @Test
    void shouldRunAgainOnTheNewValueAndCountOnce() {
        final Cache<String, String> watched = caches.create(ModelCaches.strings());
        watched.put("k", "a");
        final AtomicInteger runs = new AtomicInteger();
        final String seen = watched.invoke("k", (entry, arguments) -> {
            final String value = entry.getValue();
            if (runs.getAndIncrement() == 0) {
                final Thread other = new Thread(() -> watched.put("k", "b"));
                other.start();
                joinAll(other);
            }
            entry.setValue(value + "!");
            return value;
        });
        assertThat(runs).hasValue(2);
        assertThat(seen).isEqualTo("b");
        assertThat(watched.get("k")).isEqualTo("b!");
    }

    private static void joinAll(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldLoadOnceAndWriteWhatTookEffect() {
        final MapLoader loader = new MapLoader(Map.of("k", "loaded"));
        final RecordingWriter writer = new RecordingWriter();
        final Cache<String, String> through = caches.create(ModelCaches.strings()
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> loader)
                .setWriteThrough(true)
                .setCacheWriterFactory(() -> writer));
        assertThat(through.<String>invoke("k", (entry, arguments) -> entry.getValue() + entry.getValue()))
                .isEqualTo("loadedloaded");
        assertThat(loader.loaded()).containsExactly("k");
        assertThat(writer.written()).isEmpty();
        assertThat(through.containsKey("k")).as("a load is kept").isTrue();
        through.invoke("k", (entry, arguments) -> {
            entry.setValue("1");
            entry.remove();
            entry.setValue("2");
            return null;
        });
        assertThat(writer.written()).containsExactly("k=2");
        writer.clear();
        through.invoke("absent", (entry, arguments) -> {
            entry.setValue("1");
            entry.remove();
            return null;
        });
        assertThat(writer.written()).as("set and removed: nothing").isEmpty();
        through.clear();
        through.invoke("k", (entry, arguments) -> {
            assertThat(entry.getValue()).isEqualTo("loaded");
            entry.remove();
            return null;
        });
        assertThat(writer.written()).as("loaded and removed: nothing").isEmpty();
        assertThat(through.containsKey("k")).isFalse();
        through.invoke("absent", (entry, arguments) -> {
            entry.remove();
            return null;
        });
        assertThat(writer.written()).containsExactly("-absent");
    }

    @Test
    void shouldLeaveTheEntryUntouchedWhenTheProcessorThrows() {
        cache.put("k", "a");
        for (Throwable failure :
                List.of(new IllegalStateException("x"), new AssertionError("x"), new StackOverflowError("x"))) {
            assertThatThrownBy(() -> cache.invoke("k", (entry, arguments) -> {
                        entry.setValue("b");
                        throw sneaky(failure);
                    }))
                    .isInstanceOf(EntryProcessorException.class)
                    .hasCause(failure);
        }
        assertThatThrownBy(() -> cache.invoke("k", (entry, arguments) -> {
                    entry.setValue(null);
                    return null;
                }))
                .isInstanceOf(EntryProcessorException.class)
                .hasCauseInstanceOf(NullPointerException.class);
        assertThat(cache.get("k")).isEqualTo("a");
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> RuntimeException sneaky(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void shouldRefuseAValueOfAnotherType() {
        assertThatThrownBy(() -> ((Cache) cache).invoke("k", (entry, arguments) -> {
                    entry.setValue(5L);
                    return null;
                }))
                .isInstanceOf(EntryProcessorException.class)
                .hasCauseInstanceOf(ClassCastException.class);
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldReturnResultsAndFailuresByKey() {
        cache.putAll(Map.of("a", "1", "b", "2", "null", "3"));
        final Map<String, EntryProcessorResult<String>> results = cache.invokeAll(
                Set.of("a", "b", "null"),
                (entry, arguments) -> {
                    if (entry.getKey().equals("b")) {
                        throw new IllegalStateException("b");
                    }
                    return entry.getKey().equals("a") ? entry.getValue() + arguments[0] : null;
                },
                "!");
        assertThat(results).containsOnlyKeys("a", "b");
        assertThat(results.get("a").get()).isEqualTo("1!");
        assertThatThrownBy(() -> results.get("b").get())
                .isInstanceOf(EntryProcessorException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRunProcessorsThatAreNotSerializable() {
        final Map<String, Object> notSerializable = new HashMap<>(Map.of("o", new Object()));
        assertThat(cache.<Integer>invoke("k", (entry, arguments) -> notSerializable.size()))
                .isEqualTo(1);
    }

    @Test
    void shouldGiveTheProcessorCopies() {
        final Cache<String, byte[]> arrays =
                caches.create(new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
        arrays.put("k", new byte[] {1});
        arrays.invoke("k", (entry, arguments) -> {
            entry.getValue()[0] = 2;
            return null;
        });
        assertThat(arrays.get("k")).containsExactly(1);
    }

    @Test
    void shouldGoOnWhenTheCallerIsInterrupted() throws Exception {
        inThreads(4, thread -> {
            Thread.currentThread().interrupt();
            for (int i = 0; i < 200; i++) {
                counters.invoke("k", INCREMENT);
                counters.put("p" + thread, (long) i);
            }
            assertThat(Thread.interrupted()).isTrue();
        });
        assertThat(counters.get("k")).isEqualTo(800);
    }
}
