package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.time.Duration;

/** The class loader of an application that has ended. */
final class CollectedLoader {
    private CollectedLoader() {}

    /** Waits until nothing refers to it, no thread by its context either. */
    static void require(WeakReference<ClassLoader> application) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> {
                    System.gc();
                    assertThat(Thread.getAllStackTraces().keySet())
                            .filteredOn(thread -> thread.getContextClassLoader() != null
                                    && application.refersTo(thread.getContextClassLoader()))
                            .isEmpty();
                    assertThat(application.refersTo(null)).as("collected").isTrue();
                });
    }
}
