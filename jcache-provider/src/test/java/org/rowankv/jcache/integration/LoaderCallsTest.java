package org.rowankv.jcache.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheLoaderException;
import org.junit.jupiter.api.Test;

class LoaderCallsTest {
    private final List<String> happened = new CopyOnWriteArrayList<>();
    private final CountDownLatch called = new CountDownLatch(1);
    private final CountDownLatch mayReturn = new CountDownLatch(1);

    private final class SlowLoader implements CacheLoader<String, String>, Closeable {
        @Override
        public String load(String key) {
            called.countDown();
            try {
                mayReturn.await();
            } catch (InterruptedException e) {
                throw new CacheLoaderException(e);
            }
            happened.add("loaded");
            return key;
        }

        @Override
        public Map<String, String> loadAll(Iterable<? extends String> keys) {
            return Map.of();
        }

        @Override
        public void close() {
            happened.add("closed");
        }
    }

    @Test
    void shouldCloseALoaderBehindTheCallsUnderWayAndCallItNeverAgain() throws Exception {
        final LoaderCalls<String, String> loads = new LoaderCalls<>(new SlowLoader());
        final Thread caller = new Thread(() -> loads.load("a"));
        caller.start();
        called.await();
        final Thread closer = new Thread(() -> {
            try {
                loads.close();
            } catch (IOException e) {
                happened.add(e.toString());
            }
        });
        closer.start();
        await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        mayReturn.countDown();
        caller.join();
        closer.join();
        assertThat(happened).containsExactly("loaded", "closed");
        assertThatThrownBy(() -> loads.load("b")).isInstanceOf(CacheLoaderException.class);
        assertThatThrownBy(() -> loads.loadAll(List.of("b"))).isInstanceOf(CacheLoaderException.class);
        assertThat(happened).containsExactly("loaded", "closed");
    }
}
