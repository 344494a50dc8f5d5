package org.rowankv.jcache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.cache.Cache;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.jcache.model.ModelCaches;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Another JVM writes a key between read and compare-and-set of a change: the change is retried, the writer is not
 * called again.
 */
class OvertakenWriteTest {
    private static final int TIMES = 3;

    private final ModelCaches caches = new ModelCaches();
    private final RecordingWriter writer = new RecordingWriter();
    private final Cache<String, String> cache =
            caches.create(ModelCaches.strings().setWriteThrough(true).setCacheWriterFactory(() -> writer));

    @AfterEach
    void close() {
        caches.close();
    }

    /** Another JVM, without a writer, puts the same value again, which changes the version. */
    private void putAgain(Request asked) {
        final ModelSession session = caches.session();
        final Request other = new Request();
        other.get(asked.cacheId(), asked.key(), asked.keyOffset(), asked.keyLength());
        other.placed(asked.hash(), asked.shard());
        session.call(other);
        final byte[] value = other.resultBytes();
        other.put(asked.cacheId(), asked.key(), asked.keyOffset(), asked.keyLength(), value, 0, value.length);
        other.placed(asked.hash(), asked.shard());
        session.call(other);
        assertThat(other.status()).isEqualTo(Status.OK);
    }

    private int overtake(Runnable operation) {
        final AtomicInteger attempts = new AtomicInteger();
        caches.session().interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                if (request.condition() == Condition.IF_VERSION && attempts.getAndIncrement() < TIMES) {
                    putAgain(request);
                }
                return Status.OK;
            }
        });
        operation.run();
        caches.heal();
        return attempts.get();
    }

    private void changes(Consumer<Cache<String, String>> operation, String written) {
        cache.put("k", "before");
        writer.clear();
        final int attempts = overtake(() -> operation.accept(cache));
        assertThat(attempts).as("attempts").isEqualTo(TIMES + 1);
        assertThat(writer.written()).containsExactly(written);
        assertThat(cache.get("k")).isEqualTo(written.startsWith("-") ? null : written.substring(2));
    }

    @Test
    void shouldCallTheWriterOnceHoweverManyAttemptsAChangeTakes() {
        for (Consumer<Cache<String, String>> operation : List.<Consumer<Cache<String, String>>>of(
                each -> each.replace("k", "after"),
                each -> assertThat(each.replace("k", "before", "after")).isTrue(),
                each -> assertThat(each.getAndReplace("k", "after")).isEqualTo("before"))) {
            changes(operation, "k=after");
        }
        changes(each -> assertThat(each.remove("k", "before")).isTrue(), "-k");
    }
}
