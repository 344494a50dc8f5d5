package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.integration.CompletionListenerFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.jcache.event.StoreEvent;
import org.rowankv.jcache.model.ModelCaches;

/** Listeners that hang, throw, call back or never end: which operations they delay, and which not. */
@Timeout(120)
@Tag("jvm")
class PatienceTest {
    private final ModelCaches caches = new ModelCaches(ModelCaches.properties("rowan.background-threads", "1"));
    private final Cache<String, String> cache = caches.create();

    @AfterEach
    void close() {
        caches.close();
    }

    /** Receives creations and updates alike. */
    private record Hearing(Consumer<CacheEntryEvent<? extends String, ? extends String>> hear)
            implements CacheEntryCreatedListener<String, String>, CacheEntryUpdatedListener<String, String> {
        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            events.forEach(hear);
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            events.forEach(hear);
        }
    }

    private static MutableCacheEntryListenerConfiguration<String, String> listener(
            boolean synchronous, Consumer<CacheEntryEvent<? extends String, ? extends String>> hear) {
        return new MutableCacheEntryListenerConfiguration<>(() -> new Hearing(hear), null, false, synchronous);
    }

    private static void awaitRelease(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rowan-jcache"))
                .toList();
    }

    /** A hanging synchronous listener delays the change it receives; reads, other keys and other caches continue. */
    @Test
    void shouldHoldUpNobodyElseWhileASynchronousListenerHangs() throws Exception {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        cache.registerCacheEntryListener(listener(true, event -> {
            if (event.getValue().equals("hang")) {
                inside.countDown();
                awaitRelease(release);
            }
        }));
        final Cache<String, String> other = caches.create();
        final Thread hanging = new Thread(() -> cache.put("k", "hang"));
        hanging.start();
        try {
            inside.await();
            assertThat(cache.get("k")).as("applied, although not yet delivered").isEqualTo("hang");
            assertThat(cache.containsKey("k")).isTrue();
            assertThat(cache.getAll(Set.of("k", "l"))).hasSize(1);
            cache.put("l", "w");
            assertThat(cache.<String>invoke("l", (entry, arguments) -> entry.getValue()))
                    .isEqualTo("w");
            assertThat(cache.iterator()).toIterable().hasSize(2);
            assertThat(cache.remove("k"))
                    .as("a removal, which it does not receive")
                    .isTrue();
            other.put("k", "v");
            cache.clear();
            assertThat(hanging.isAlive()).isTrue();
        } finally {
            release.countDown();
            hanging.join();
        }
    }

    @Test
    void shouldCloseWhileAListenerHangs() throws Exception {
        final CountDownLatch inside = new CountDownLatch(2);
        final CountDownLatch release = new CountDownLatch(1);
        for (boolean synchronous : new boolean[] {true, false}) {
            cache.registerCacheEntryListener(listener(synchronous, event -> {
                inside.countDown();
                awaitRelease(release);
            }));
        }
        final Thread hanging = new Thread(() -> cache.put("k", "v"));
        hanging.start();
        // The same thread delivers to the synchronous listener first, which hangs.
        await().until(() -> inside.getCount() <= 1);
        caches.manager().close();
        assertThat(cache.isClosed()).isTrue();
        release.countDown();
        hanging.join();
        await().atMost(Duration.ofSeconds(60)).until(() -> threads().isEmpty());
    }

    @Test
    void shouldLoadWhileEveryListenerThreadHangs() throws Exception {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        cache.registerCacheEntryListener(listener(false, event -> {
            inside.countDown();
            awaitRelease(release);
        }));
        final Cache<String, String> loading = caches.create(ModelCaches.strings()
                .setReadThrough(true)
                .setCacheLoaderFactory(() -> new MapLoader(Map.of("k", "v"))));
        cache.put("k", "v");
        inside.await();
        final CompletionListenerFuture done = new CompletionListenerFuture();
        loading.loadAll(Set.of("k"), false, done);
        done.get();
        assertThat(loading.containsKey("k")).isTrue();
        release.countDown();
    }

    /** One thread, and a listener that causes another event with each event. */
    @Test
    void shouldTellAListenerWhileAnotherNeverComesToAnEnd() {
        final AtomicBoolean heard = new AtomicBoolean();
        final Cache<String, String> other = caches.create();
        other.registerCacheEntryListener(listener(false, event -> heard.set(true)));
        cache.registerCacheEntryListener(listener(false, event -> {
            if (!heard.get()) {
                cache.put("k", event.getValue() + ".");
                if (event.getValue().length() == 10) {
                    other.put("k", "v");
                }
            }
        }));
        cache.put("k", "");
        await().atMost(Duration.ofSeconds(30)).until(heard::get);
    }

    /** Large values queued for a hanging listener must not fill the heap. */
    @Test
    void shouldLoseEventsRatherThanTheHeap() throws Exception {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final AtomicInteger heard = new AtomicInteger();
        cache.registerCacheEntryListener(listener(false, event -> {
            inside.countDown();
            awaitRelease(release);
            heard.incrementAndGet();
        }));
        final String value = "x".repeat((int) (Runtime.getRuntime().maxMemory() / 16 / 4));
        cache.put("k", value);
        inside.await();
        for (int i = 0; i < 8; i++) {
            cache.put("k", value);
        }
        release.countDown();
        await().atMost(Duration.ofSeconds(60)).until(() -> heard.get() == 4);
        await().atMost(Duration.ofSeconds(60)).until(() -> threads().isEmpty());
        assertThat(heard)
                .as("one in delivery, three that fit in a sixteenth of the heap")
                .hasValue(4);
        cache.put("k", "small");
        await().atMost(Duration.ofSeconds(60)).until(() -> heard.get() == 5);
    }

    @Test
    void shouldGoOnTellingAnAsynchronousListenerThatThrows() {
        final List<String> heard = Collections.synchronizedList(new ArrayList<>());
        cache.registerCacheEntryListener(listener(false, event -> {
            heard.add(event.getValue());
            if (heard.size() % 2 == 0) {
                throw new IllegalStateException("listener");
            }
            throw new AssertionError("listener");
        }));
        for (int i = 0; i < 200; i++) {
            cache.put("k", "" + i);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> heard.size() == 200);
        assertThat(heard.get(199)).isEqualTo("199");
    }

    @Test
    void shouldLetAListenerDeregisterItself() {
        final AtomicInteger heard = new AtomicInteger();
        for (boolean synchronous : new boolean[] {true, false}) {
            final List<MutableCacheEntryListenerConfiguration<String, String>> self = new ArrayList<>();
            self.add(listener(synchronous, event -> {
                heard.incrementAndGet();
                cache.deregisterCacheEntryListener(self.get(0));
            }));
            cache.registerCacheEntryListener(self.get(0));
        }
        cache.put("k", "1");
        await().atMost(Duration.ofSeconds(60)).until(() -> heard.get() == 2);
        cache.put("k", "2");
        assertThat(heard).hasValue(2);
        await().atMost(Duration.ofSeconds(60)).until(() -> threads().isEmpty());
    }

    @Test
    void shouldLeaveNoThreadOfADeregisteredListener() {
        final AtomicInteger heard = new AtomicInteger();
        for (int round = 0; round < 20; round++) {
            final var configuration = listener(false, event -> heard.incrementAndGet());
            cache.registerCacheEntryListener(configuration);
            cache.put("k" + round, "v");
            cache.deregisterCacheEntryListener(configuration);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> threads().isEmpty());
        final int before = heard.get();
        cache.put("k", "v");
        assertThat(heard).hasValue(before);
    }

    @Test
    void shouldTellTheVersionOfAChange() {
        final List<Long> versions = new ArrayList<>();
        cache.registerCacheEntryListener(listener(
                true, event -> versions.add(event.unwrap(StoreEvent.class).version())));
        final RowanCache<String, String> versioned = ModelCaches.unwrap(cache);
        cache.put("k", "1");
        assertThat(versions).containsExactly(versioned.getVersioned("k").version());
        assertThat(versioned.replaceIfVersion("k", "2", versions.get(0))).isTrue();
        assertThat(versions.get(1)).isEqualTo(versioned.getVersioned("k").version());
        assertThat(versions).isSorted().doesNotHaveDuplicates();
        cache.registerCacheEntryListener(listener(true, event -> event.unwrap(String.class)));
        assertThatThrownBy(() -> cache.put("k", "3")).hasRootCauseInstanceOf(IllegalArgumentException.class);
    }

    /** Two applications of one store, each with its own listeners for every change. */
    @Test
    void shouldTellBothApplicationsOfEachOthersChangesWithOneVersion() {
        final CacheManager other = caches.provider()
                .getCacheManager(null, new ClassLoader(getClass().getClassLoader()) {});
        final Cache<String, String> there = other.createCache(cache.getName(), ModelCaches.strings());
        final List<String> receivedHere = Collections.synchronizedList(new ArrayList<>());
        final List<String> heardThere = Collections.synchronizedList(new ArrayList<>());
        final AtomicBoolean sourcesAreTheirOwn = new AtomicBoolean(true);
        cache.registerCacheEntryListener(listener(true, event -> {
            receivedHere.add(
                    event.getValue() + "@" + event.unwrap(StoreEvent.class).version());
            sourcesAreTheirOwn.compareAndSet(true, event.getSource() == cache);
        }));
        there.registerCacheEntryListener(listener(false, event -> {
            heardThere.add(
                    event.getValue() + "@" + event.unwrap(StoreEvent.class).version());
            sourcesAreTheirOwn.compareAndSet(true, event.getSource() == there);
        }));
        for (int i = 0; i < 100; i++) {
            (i % 2 == 0 ? cache : there).put("k", "" + i);
            assertThat(receivedHere).as("synchronously, for changes of both").hasSize(i + 1);
        }
        await().atMost(Duration.ofSeconds(60)).until(() -> heardThere.size() == 100);
        assertThat(heardThere).isEqualTo(receivedHere);
        assertThat(sourcesAreTheirOwn).isTrue();
        other.close();
        cache.put("k", "alone");
        assertThat(heardThere).hasSize(100);
    }
}
