package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;

/** Entry processors with a remote store, which start from the value this JVM wrote last. */
@Timeout(120)
class GuessedInvokeTest {
    private static final EntryProcessor<String, Long, Long> INCREMENT = (entry, arguments) -> {
        entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
        return entry.getValue();
    };
    private static final EntryProcessor<String, Long, Long> READ = (entry, arguments) -> entry.getValue();

    private final ModelCaches caches = new ModelCaches();
    private final Cache<String, Long> counters =
            caches.create(new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
    private final ConcurrentLinkedQueue<Operation> asked = new ConcurrentLinkedQueue<>();
    private volatile Status ofPuts = Status.OK;
    private volatile Request last = new Request();
    private final AtomicInteger clients = new AtomicInteger();

    private static Request copy(Request request) {
        final byte[] key =
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength());
        if (request.operation() == Operation.GET) {
            return new Request().get(request.cacheId(), key, 0, key.length);
        }
        final byte[] value = Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
        return new Request().put(request.cacheId(), key, 0, key.length, value, 0, value.length);
    }

    @BeforeEach
    void beFarAway() {
        caches.session().beFarAway();
        caches.session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                asked.add(request.operation());
                if (request.operation() == Operation.PUT || request.operation() == Operation.GET) {
                    last = copy(request);
                }
                return request.operation() == Operation.PUT ? ofPuts : Status.OK;
            }
        });
    }

    @AfterEach
    void close() {
        caches.close();
    }

    /** Writes as another JVM, unseen by this one; null removes. */
    private void elsewhere(String key, Long value) {
        counters.put("elsewhere", value == null ? 0 : value);
        final Request put = last;
        counters.containsKey(key);
        final Request get = last;
        final RowanClient other = new RowanClient(
                caches.session(), caches.clock(), new SplittableRandomSource(clients.incrementAndGet()));
        final byte[] bytes = Arrays.copyOfRange(get.key(), get.keyOffset(), get.keyOffset() + get.keyLength());
        other.execute(
                value == null
                        ? new Request().delete(get.cacheId(), bytes, 0, bytes.length)
                        : new Request()
                                .put(
                                        get.cacheId(),
                                        bytes,
                                        0,
                                        bytes.length,
                                        put.value(),
                                        put.valueOffset(),
                                        put.valueLength()));
        asked.clear();
    }

    /** From now on runs start from a speculative value. */
    private void prove(String key) {
        counters.invoke(key, INCREMENT);
        counters.invoke(key, INCREMENT);
        asked.clear();
    }

    @Test
    void shouldNotReadWhatItHasWrittenItself() {
        prove("k");
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(3);
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(4);
        assertThat(asked).containsExactly(Operation.PUT, Operation.PUT);
        assertThat(counters.get("k")).isEqualTo(4);
    }

    @Test
    void shouldRunAgainOnWhatSomebodyElseHasWritten() {
        prove("k");
        elsewhere("k", 100L);
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(101);
        assertThat(counters.get("k")).isEqualTo(101);
    }

    @Test
    void shouldReadAgainWhatOthersWriteToo() {
        prove("k");
        elsewhere("k", 100L);
        counters.invoke("k", INCREMENT);
        asked.clear();
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(102);
        assertThat(asked).contains(Operation.GET);
    }

    @Test
    void shouldNotCreateWhatSomebodyElseHasRemovedFromAGuess() {
        prove("k");
        elsewhere("k", null);
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(1);
    }

    @Test
    void shouldReturnNothingOfAGuessThatWasWrong() {
        prove("k");
        assertThat(counters.invoke("k", READ)).isEqualTo(2);
        elsewhere("k", 7L);
        assertThat(counters.invoke("k", READ)).isEqualTo(7);
        elsewhere("k", null);
        assertThat(counters.invoke("k", READ)).isNull();
    }

    @Test
    void shouldThrowNothingOfAGuessThatWasWrong() {
        prove("k");
        elsewhere("k", 7L);
        final AtomicInteger runs = new AtomicInteger();
        final EntryProcessor<String, Long, Long> choosy = (entry, arguments) -> {
            runs.incrementAndGet();
            if (entry.getValue() == 2) {
                throw new IllegalStateException("two");
            }
            return entry.getValue();
        };
        assertThat(counters.invoke("k", choosy)).isEqualTo(7);
        assertThat(runs).hasValue(2);
        prove("m");
        assertThatThrownBy(() -> counters.invoke("m", choosy))
                .isInstanceOf(EntryProcessorException.class)
                .hasRootCauseMessage("two");
    }

    @Test
    void shouldRemoveOnlyWhatIsThere() {
        prove("k");
        elsewhere("k", 7L);
        final List<Long> seen = new ArrayList<>();
        counters.invoke("k", (entry, arguments) -> {
            seen.add(entry.getValue());
            entry.remove();
            return null;
        });
        assertThat(seen).containsExactly(2L, 7L);
        assertThat(counters.containsKey("k")).isFalse();
    }

    /** The outcome of the write is unknown: another run might take effect twice. */
    @Test
    void shouldNotRunAgainWhenAWriteFails() {
        prove("k");
        ofPuts = Status.FULL;
        final AtomicInteger runs = new AtomicInteger();
        assertThatThrownBy(() -> counters.invoke("k", (entry, arguments) -> {
                    runs.incrementAndGet();
                    entry.setValue(entry.getValue() + 1);
                    return null;
                }))
                .isInstanceOf(RuntimeException.class);
        assertThat(runs).hasValue(1);
        ofPuts = Status.OK;
        assertThat(counters.get("k")).isEqualTo(2);
    }

    /** Also the lifetime computed from an outdated value. */
    @Test
    void shouldForgetWhatThisJvmChangesItself() {
        prove("k");
        counters.put("k", 100L);
        asked.clear();
        assertThat(counters.invoke("k", INCREMENT)).isEqualTo(101);
        prove("m");
        counters.clear();
        assertThat(counters.invoke("m", INCREMENT)).isEqualTo(1);
    }

    @Test
    void shouldLetAProcessorChangeItsOwnKeyWhereItDoesWithoutTheEntry() {
        prove("k");
        final EntryProcessor<String, Long, Long> outside = (entry, arguments) -> {
            counters.put("k", 50L);
            return entry.getValue();
        };
        counters.invoke("k", outside);
        assertThat(counters.get("k")).isEqualTo(50);
    }

    @Test
    void shouldLoseNoUpdateUnderContention() throws InterruptedException {
        final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            final int number = i;
            final Thread thread = new Thread(() -> {
                for (int round = 0; round < 1_000; round++) {
                    counters.invoke("k", INCREMENT);
                    counters.invoke("k" + number % 2, INCREMENT);
                }
            });
            thread.setUncaughtExceptionHandler((which, failure) -> failures.add(failure));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(counters.get("k")).isEqualTo(8_000);
        assertThat(counters.get("k0")).isEqualTo(4_000);
        assertThat(counters.get("k1")).isEqualTo(4_000);
    }
}
