package org.rowankv.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.CacheManager;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.Status;

final class RowanHealthIndicatorTest {
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
