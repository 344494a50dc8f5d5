package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.Status;

final class RowanHealthIndicatorTest {
    @TempDir
    Path directory;

    private final CountDownLatch answer = new CountDownLatch(1);
    private final AtomicInteger reads = new AtomicInteger();

    /** Its servers are silent, then fail. */
    private CacheManager silent() {
        return (CacheManager) Proxy.newProxyInstance(
                CacheManager.class.getClassLoader(),
                new Class<?>[] {CacheManager.class},
                (proxy, method, arguments) -> {
                    switch (method.getName()) {
                        case "isClosed" -> {
                            return false;
                        }
                        case "getURI" -> {
                            return null;
                        }
                        default -> {
                            reads.incrementAndGet();
                            answer.await();
                            throw new IllegalStateException("unreachable");
                        }
                    }
                });
    }

    /** Its file is replaced, which stops it. */
    @Test
    void shouldBeDownIfTheStoreKnowsItsCachesAndCannotRead() throws Exception {
        try (CacheManager manager = new RowanCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?capacity=16m&dir=" + directory), null)) {
            final Cache<String, String> cache = manager.createCache("books", new MutableConfiguration<>());
            cache.put("k", "v");
            final RowanHealthIndicator indicator = new RowanHealthIndicator(manager, 60_000);
            assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);

            final Path area = directory.resolve("area-0.rowan");
            Files.move(
                    Files.copy(area, directory.resolve("copy")),
                    area,
                    StandardCopyOption.REPLACE_EXISTING,
                    StandardCopyOption.ATOMIC_MOVE);
            while (answers(cache)) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
        }
    }

    private static boolean answers(Cache<String, String> cache) {
        try {
            return cache.get("k") != null;
        } catch (CacheException e) {
            return false;
        }
    }

    @Test
    void shouldBeDownWithoutWaitingForSilentServers() throws Exception {
        final RowanHealthIndicator indicator = new RowanHealthIndicator(silent(), 10);
        for (int probe = 0; probe < 5; probe++) {
            final Health health = indicator.health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails()).containsEntry("error", "no answer within 10 ms");
        }
        assertThat(reads).as("one read for all probes").hasValueLessThanOrEqualTo(1);

        answer.countDown();
        Health health = indicator.health();
        while (health.getDetails().toString().contains("no answer")) {
            health = indicator.health();
        }
        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails().toString()).contains("unreachable");
    }
}
