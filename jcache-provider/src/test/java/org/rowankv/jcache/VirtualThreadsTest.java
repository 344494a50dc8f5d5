package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryListener;
import javax.cache.event.CacheEntryUpdatedListener;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Virtual threads at work on few keys, where each waits for others; none keeps its carrier meanwhile. */
@Tag("jvm")
final class VirtualThreadsTest {
    private static final int THREADS = 500;
    private static final int ROUNDS = 20;
    private static final String PINNED = "jdk.VirtualThreadPinned";

    @TempDir
    Path directory;

    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        assumeThat(Runtime.version().feature())
                .as("the first Java with virtual threads")
                .isGreaterThanOrEqualTo(21);
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    private static CacheEntryListener<String, Integer> listener() {
        return (CacheEntryUpdatedListener<String, Integer>)
                events -> events.forEach(event -> assertThat(event.getValue()).isPositive());
    }

    @Test
    void shouldNotKeepCarriers() throws Exception {
        final ExecutorService threads = virtualThreads();
        final RowanCachingProvider provider = new RowanCachingProvider();
        try (Recording recording = new Recording();
                CacheManager manager =
                        provider.getCacheManager(URI.create("rowan:embedded?capacity=16m&dir=" + directory), null)) {
            final Cache<String, Integer> cache = manager.createCache(
                    "c", new MutableConfiguration<String, Integer>().setTypes(String.class, Integer.class));
            cache.registerCacheEntryListener(
                    new MutableCacheEntryListenerConfiguration<>(VirtualThreadsTest::listener, null, false, true));
            threads.submit(() -> use(cache, "k0"))
                    .get(60, TimeUnit.SECONDS); // a class keeps the carrier while it is initialized
            recording.enable(PINNED).withThreshold(Duration.ZERO);
            recording.start();
            final List<Future<?>> runs = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                final String key = "k" + i % 10;
                runs.add(threads.submit(() -> use(cache, key)));
            }
            for (Future<?> run : runs) {
                run.get(120, TimeUnit.SECONDS);
            }
            recording.stop();
            final Path file = directory.resolve("run.jfr");
            recording.dump(file);
            assertThat(RecordingFile.readAllEvents(file))
                    .filteredOn(event -> event.getEventType().getName().equals(PINNED))
                    .extracting(RecordedEvent::getStackTrace)
                    .isEmpty();
            int sum = 0;
            for (Cache.Entry<String, Integer> entry : cache) {
                sum += entry.getValue();
            }
            assertThat(sum).isEqualTo((THREADS + 1) * ROUNDS);
        } finally {
            threads.shutdownNow();
        }
    }

    private static void use(Cache<String, Integer> cache, String key) {
        for (int round = 0; round < ROUNDS; round++) {
            cache.invoke(key, (entry, arguments) -> {
                entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
                return null;
            });
            assertThat(cache.get(key)).isPositive();
        }
    }
}
