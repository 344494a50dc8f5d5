package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.Closeable;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryEventFilter;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryListenerException;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.expiry.CreatedExpiryPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.jcache.event.StoreEvent;
import org.rowankv.jcache.model.ModelCaches;

@Timeout(120)
@Tag("jvm")
class EventsTest {
    /** Records every event as text. */
    private static class Recorder
            implements CacheEntryCreatedListener<String, String>,
                    CacheEntryUpdatedListener<String, String>,
                    CacheEntryRemovedListener<String, String>,
                    CacheEntryExpiredListener<String, String>,
                    Closeable {
        final List<String> received = Collections.synchronizedList(new ArrayList<>());
        final AtomicBoolean closed = new AtomicBoolean();
        volatile Consumer<CacheEntryEvent<? extends String, ? extends String>> then = event -> {};

        private void hear(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            for (CacheEntryEvent<? extends String, ? extends String> event : events) {
                final String old = event.isOldValueAvailable() ? " old " + event.getOldValue() : "";
                received.add(event.getEventType() + " " + event.getKey() + "=" + event.getValue() + old);
                then.accept(event);
            }
        }

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void onExpired(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            hear(events);
        }

        @Override
        public void close() {
            closed.set(true);
        }

        List<String> take() {
            synchronized (received) {
                final List<String> taken = List.copyOf(received);
                received.clear();
                return taken;
            }
        }
    }

    private final ModelCaches caches = new ModelCaches();
    private final Recorder recorder = new Recorder();
    private final Cache<String, String> cache = caches.create(
            ModelCaches.strings(new CreatedExpiryPolicy(new javax.cache.expiry.Duration(TimeUnit.SECONDS, 1))));

    @AfterEach
    void close() {
        caches.close();
    }

    private static MutableCacheEntryListenerConfiguration<String, String> listener(
            Recorder to, boolean oldValue, boolean synchronous) {
        return new MutableCacheEntryListenerConfiguration<>(() -> to, null, oldValue, synchronous);
    }

    @Test
    void shouldTellWhatEveryOperationDid() {
        cache.registerCacheEntryListener(listener(recorder, true, true));
        cache.put("k", "1");
        cache.put("k", "2");
        assertThat(recorder.take()).containsExactly("CREATED k=1", "UPDATED k=2 old 1");
        cache.getAndPut("k", "3");
        cache.putIfAbsent("k", "x");
        cache.putIfAbsent("l", "1");
        assertThat(recorder.take()).containsExactly("UPDATED k=3 old 2", "CREATED l=1");
        cache.replace("k", "4");
        cache.replace("k", "4", "5");
        cache.replace("k", "x", "y");
        cache.getAndReplace("k", "6");
        assertThat(recorder.take()).containsExactly("UPDATED k=4 old 3", "UPDATED k=5 old 4", "UPDATED k=6 old 5");
        cache.remove("k", "x");
        cache.remove("k", "6");
        cache.remove("k");
        cache.getAndRemove("l");
        assertThat(recorder.take()).containsExactly("REMOVED k=6 old 6", "REMOVED l=1 old 1");
        cache.putAll(Map.of("m", "1"));
        cache.invoke("m", (entry, arguments) -> {
            entry.setValue("2");
            return null;
        });
        cache.invoke("m", (entry, arguments) -> {
            entry.remove();
            return null;
        });
        assertThat(recorder.take()).containsExactly("CREATED m=1", "UPDATED m=2 old 1", "REMOVED m=2 old 2");
        cache.put("n", "1");
        cache.removeAll(Set.of("n", "missing"));
        cache.put("n", "2");
        cache.removeAll();
        cache.put("n", "3");
        final var iterator = cache.iterator();
        iterator.next();
        iterator.remove();
        assertThat(recorder.take())
                .containsExactly(
                        "CREATED n=1",
                        "REMOVED n=1 old 1",
                        "CREATED n=2",
                        "REMOVED n=2 old 2",
                        "CREATED n=3",
                        "REMOVED n=3 old 3");
        cache.get("k");
        cache.containsKey("k");
        cache.put("n", "4");
        recorder.take();
        cache.clear();
        assertThat(recorder.take()).as("clear fires no event").isEmpty();
    }

    @Test
    void shouldTellOfAnExpiryOnceByWhateverMeetsIt() {
        cache.registerCacheEntryListener(listener(recorder, true, true));
        for (Runnable meeting : List.<Runnable>of(
                () -> cache.get("k"),
                () -> cache.containsKey("k"),
                () -> cache.remove("k"),
                () -> assertThat(cache.iterator().hasNext()).isFalse(),
                () -> cache.replace("k", "x"),
                () -> cache.getAll(Set.of("k")))) {
            cache.put("k", "1");
            caches.clock().advanceMs(1_000);
            meeting.run();
            cache.get("k");
            cache.get("k");
            assertThat(recorder.take()).containsExactly("CREATED k=1", "EXPIRED k=1 old 1");
        }
        cache.put("k", "1");
        caches.clock().advanceMs(1_000);
        cache.put("k", "2");
        assertThat(recorder.take()).containsExactly("CREATED k=1", "EXPIRED k=1 old 1", "CREATED k=2");
    }

    @Test
    void shouldShowNoOldValueThatWasNotAskedFor() {
        cache.registerCacheEntryListener(listener(recorder, false, true));
        final Recorder asking = new Recorder();
        cache.registerCacheEntryListener(listener(asking, true, true));
        cache.put("k", "1");
        cache.put("k", "2");
        cache.remove("k");
        assertThat(recorder.take()).containsExactly("CREATED k=1", "UPDATED k=2", "REMOVED k=null");
        assertThat(asking.take()).containsExactly("CREATED k=1", "UPDATED k=2 old 1", "REMOVED k=2 old 2");
    }

    @Test
    void shouldFetchNothingForNobody() {
        cache.put("k", "1");
        cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                () -> (CacheEntryCreatedListener<String, String>) events -> {}, null, true, true));
        final List<Boolean> needs = Collections.synchronizedList(new ArrayList<>());
        caches.session().interceptWith(new org.rowankv.driver.ModelSession.Interceptor() {
            @Override
            public boolean losesReply(org.rowankv.protocol.Request request) {
                needs.add(request.needsValue());
                return false;
            }
        });
        cache.put("k", "2");
        cache.remove("k");
        assertThat(needs).doesNotContain(true);
    }

    @Test
    void shouldLetFiltersSeeValuesAndOldValues() {
        final CacheEntryEventFilter<String, String> filter =
                event -> event.getValue().length() > 1 || "1".equals(event.getOldValue());
        cache.registerCacheEntryListener(
                new MutableCacheEntryListenerConfiguration<>(() -> recorder, () -> filter, true, true));
        cache.put("k", "1");
        cache.put("k", "2");
        cache.put("k", "3");
        cache.put("k", "44");
        assertThat(recorder.take()).containsExactly("UPDATED k=2 old 1", "UPDATED k=44 old 3");
    }

    @Test
    void shouldThrowWhatASynchronousListenerThrowsAfterTheOperation() {
        cache.registerCacheEntryListener(listener(recorder, false, true));
        recorder.then = event -> {
            throw new IllegalStateException("listener");
        };
        assertThatThrownBy(() -> cache.put("k", "1"))
                .isInstanceOf(CacheEntryListenerException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        final CacheEntryListenerException own = new CacheEntryListenerException("own");
        recorder.then = event -> {
            throw own;
        };
        assertThatThrownBy(() -> cache.put("k", "2")).isSameAs(own);
        recorder.then = event -> {
            throw new AssertionError("error");
        };
        assertThatThrownBy(() -> cache.remove("k")).isInstanceOf(AssertionError.class);
        recorder.then = event -> {};
        assertThat(cache.get("k")).isNull();
        cache.put("k", "3");
        assertThat(cache.get("k")).isEqualTo("3");
    }

    @Test
    void shouldPutAllTheOthersWhenAListenerThrows() {
        cache.registerCacheEntryListener(listener(recorder, false, true));
        recorder.then = event -> {
            throw new IllegalStateException(event.getKey());
        };
        assertThatThrownBy(() -> cache.putAll(Map.of("a", "1", "b", "2", "c", "3")))
                .isInstanceOf(CacheEntryListenerException.class);
        assertThat(cache.getAll(Set.of("a", "b", "c"))).hasSize(3);
    }

    @Test
    void shouldLetAListenerUseTheCacheOnAnyKey() {
        cache.registerCacheEntryListener(listener(recorder, true, true));
        recorder.then = event -> {
            if (event.getKey().equals("a") && event.getEventType() == javax.cache.event.EventType.CREATED) {
                cache.put("a", "again");
                cache.put("b", "from listener");
            }
        };
        cache.put("a", "1");
        assertThat(recorder.take()).containsExactly("CREATED a=1", "UPDATED a=again old 1", "CREATED b=from listener");
    }

    @Test
    void shouldNotDeadlockWhenListenersUseEachOthersKeys() throws Exception {
        final CountDownLatch both = new CountDownLatch(2);
        cache.registerCacheEntryListener(listener(recorder, false, true));
        recorder.then = event -> {
            if (event.getValue().equals("outer")) {
                both.countDown();
                try {
                    both.await(5, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                cache.put(event.getKey().equals("a") ? "b" : "a", "inner");
            }
        };
        final Thread other = new Thread(() -> cache.put("b", "outer"));
        other.start();
        cache.put("a", "outer");
        other.join(60_000);
        assertThat(other.isAlive()).isFalse();
        assertThat(recorder.take()).hasSize(4);
    }

    @Test
    void shouldTellAKeysEventsInTheOrderOfItsVersions() throws Exception {
        final List<String> chain = Collections.synchronizedList(new ArrayList<>());
        final List<Long> versions = Collections.synchronizedList(new ArrayList<>());
        cache.registerCacheEntryListener(listener(recorder, true, true));
        recorder.then = event -> {
            chain.add((event.isOldValueAvailable() ? event.getOldValue() : "none") + ">" + event.getValue());
            versions.add(event.unwrap(StoreEvent.class).version());
        };
        inThreads(8, thread -> {
            for (int i = 0; i < 2_000; i++) {
                cache.put("k", thread + "." + i);
            }
        });
        assertThat(chain).hasSize(16_000);
        for (int i = 1; i < chain.size(); i++) {
            assertThat(chain.get(i)).startsWith(chain.get(i - 1).split(">", -1)[1] + ">");
        }
        assertThat(versions).isSorted();
    }

    private static void inThreads(int count, Consumer<Integer> work) throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int number = i;
            final Thread thread = new Thread(() -> work.accept(number));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void shouldHaveToldSynchronousListenersWhenTheOperationReturns() throws Exception {
        cache.registerCacheEntryListener(listener(recorder, false, true));
        final List<String> missing = Collections.synchronizedList(new ArrayList<>());
        inThreads(4, thread -> {
            for (int i = 0; i < 500; i++) {
                final String value = thread + "." + i;
                cache.put("k", value);
                if (recorder.received.stream().noneMatch(line -> line.endsWith("k=" + value))) {
                    missing.add(value);
                }
            }
        });
        assertThat(missing).isEmpty();
    }

    @Test
    void shouldTellAsynchronousListenersInOrderAndLeaveNoThread() {
        cache.registerCacheEntryListener(listener(recorder, false, false));
        final List<String> expected = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            cache.put("k", "" + i);
            expected.add((i == 0 ? "CREATED k=" : "UPDATED k=") + i);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> recorder.received.size() == 1_000);
        assertThat(recorder.take()).isEqualTo(expected);
        await().atMost(Duration.ofSeconds(60)).until(() -> threads().isEmpty());
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rowan-jcache"))
                .toList();
    }

    @Test
    void shouldNotWaitForASlowAsynchronousListener() throws Exception {
        final ModelCaches few = new ModelCaches(ModelCaches.properties("rowan.listener-backlog", "10"));
        final CountDownLatch release = new CountDownLatch(1);
        final Cache<String, String> busy = few.create();
        busy.registerCacheEntryListener(listener(recorder, false, false));
        recorder.then = event -> {
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        for (int i = 0; i < 100; i++) {
            busy.put("k" + i, "v");
        }
        release.countDown();
        await().atMost(Duration.ofSeconds(60)).until(() -> recorder.received.size() >= 10);
        few.close();
        assertThat(recorder.received)
                .as("one in delivery, ten queued, the rest lost")
                .hasSizeBetween(10, 11);
    }

    @Test
    void shouldCloseAListenerOnDeregistrationAndTellItNothingMore() {
        final var configuration = listener(recorder, false, true);
        cache.registerCacheEntryListener(configuration);
        assertThatThrownBy(() -> cache.registerCacheEntryListener(configuration))
                .isInstanceOf(IllegalArgumentException.class);
        cache.deregisterCacheEntryListener(configuration);
        assertThat(recorder.closed).isTrue();
        cache.put("k", "1");
        assertThat(recorder.take()).isEmpty();
        cache.deregisterCacheEntryListener(configuration);
        cache.registerCacheEntryListener(configuration);
        cache.close();
        assertThat(recorder.closed).isTrue();
    }

    @Test
    void shouldTellListenersOfOtherManagersOfTheStore() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CacheManager other = caches.provider().getCacheManager(null, loader);
            final Cache<String, String> there = other.createCache(
                    cache.getName(),
                    ModelCaches.strings(new CreatedExpiryPolicy(new javax.cache.expiry.Duration(TimeUnit.SECONDS, 1))));
            there.registerCacheEntryListener(listener(recorder, true, true));
            cache.put("k", "here");
            there.put("k", "there");
            assertThat(recorder.take()).containsExactly("CREATED k=here", "UPDATED k=there old here");
            there.close();
            cache.put("k", "later");
            assertThat(recorder.take()).isEmpty();
        }
    }

    @Test
    void shouldGiveEachListenerCopiesOfItsOwn() {
        final Cache<String, byte[]> arrays =
                caches.create(new javax.cache.configuration.MutableConfiguration<String, byte[]>()
                        .setTypes(String.class, byte[].class));
        for (boolean oldValue : new boolean[] {false, true}) {
            arrays.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                    () -> (CacheEntryCreatedListener<String, byte[]>) events -> events.forEach(event -> {
                        final byte[] copy = event.getValue();
                        assertThat(copy).containsExactly(1);
                        copy[0] = 2;
                    }),
                    null,
                    oldValue,
                    true));
        }
        final byte[] value = {1};
        arrays.put("k", value);
        assertThat(value[0]).isEqualTo((byte) 1);
        assertThat(arrays.get("k")[0]).isEqualTo((byte) 1);
    }
}
