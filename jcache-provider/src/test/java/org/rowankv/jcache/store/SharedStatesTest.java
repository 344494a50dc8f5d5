package org.rowankv.jcache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.event.CallbackThreads;
import org.rowankv.jcache.model.ModelStore;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.ManualClock;

/** What a JVM keeps of caches that are opened and left, destroyed here or elsewhere, for as long as it runs. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SharedStatesTest {
    private static final int CACHES = 100;
    private static final byte[] KEY = {1};

    private final ModelStore store = new ModelStore(new ManualClock());
    private final SharedStates states =
            new SharedStates(id -> SharedCacheState.with(new CallbackThreads(), store.client(), id));

    @AfterEach
    void close() {
        store.close();
    }

    private void awaitCount(int count) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(20))
                .untilAsserted(() -> {
                    System.gc();
                    assertThat(states.count()).isEqualTo(count);
                });
    }

    @Test
    void shouldForgetCachesThatNobodyUses() {
        final List<SharedCacheState> used = new ArrayList<>();
        for (int id = 1; id <= CACHES; id++) {
            used.add(states.of(id));
        }
        assertThat(states.count()).isEqualTo(CACHES);
        used.subList(1, CACHES).clear();
        awaitCount(1);
        assertThat(states.of(1)).isSameAs(used.get(0));
    }

    /** An operation that is under way when its cache is closed must meet the one that is on the cache as opened again. */
    @Test
    void shouldGiveTheSameStateAsLongAsOneUsesIt() {
        final SharedCacheState underWay = states.of(1);
        for (int again = 0; again < 5; again++) {
            System.gc();
            assertThat(states.of(1)).isSameAs(underWay);
        }
        assertThat(states.of(2)).isNotSameAs(underWay);
        Reference.reachabilityFence(underWay);
    }

    @Test
    void shouldTakeNoMemoryForValuesBeforeAProcessorWritesOne() {
        final SpeculativeValues values = states.of(1).speculativeValues();
        final ByteSink value = new ByteSink(16);
        assertThat(values.find(KEY)).isNull();
        assertThat(values.isLast(KEY, 1)).isFalse();
        values.invalidate(new Request().delete(1, KEY, 0, 1));
        values.remove(new SpeculativeValues.Written(KEY, KEY, 1, true));
        values.clear();
        assertThat(values.isEmpty()).isTrue();

        values.record(KEY, value, 7, true);
        assertThat(values.isEmpty()).isFalse();
        assertThat(values.find(KEY)).isNotNull();
        assertThat(values.isLast(KEY, 7)).isTrue();

        values.clear();
        assertThat(values.isEmpty()).isTrue();
        assertThat(values.find(KEY)).isNull();
    }
}
