package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.spi.CachingProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.Keys;
import org.rowankv.check.client.Window;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ChainLink;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.check.verify.StampedValue;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** The checker detects keys with values that no operation can have left. */
class KeyCheckerTest {
    private static final Keys KEYS = new Keys(2, 1, 1);
    private static final int COUNTER = 2;
    private static final int CHAIN = 3;

    private CachingProvider provider;
    private Cache<String, String> cache;
    private Cache<String, Long> counters;
    private KeyChecker checker;

    @BeforeEach
    void open() {
        provider = new RowanCachingProvider();
        final CacheManager manager =
                provider.getCacheManager(URI.create("rowan:embedded?capacity=16m"), null, new Properties());
        checker = new KeyChecker(manager, KEYS);
        cache = manager.getCache(ClientJvm.CACHE, String.class, String.class);
        counters = manager.getCache("counters", String.class, Long.class);
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private void hold(String key, long id) {
        cache.put(key, new String(StampedValue.of(id), StandardCharsets.ISO_8859_1));
    }

    private static ValueEvent put(long id, Outcome outcome) {
        return new ValueEvent(
                0, ValueAction.PUT, id, 0, outcome, Event.NOT_ASKED, System.nanoTime(), System.nanoTime());
    }

    private static ValueEvent get(long id) {
        return new ValueEvent(0, ValueAction.GET, 0, 0, Outcome.DONE, id, System.nanoTime(), System.nanoTime());
    }

    private List<String> check(ValueEvent... events) throws IOException {
        final Window window = new Window();
        for (ValueEvent event : events) {
            window.add(0, event);
        }
        return checker.check(window);
    }

    @Test
    void shouldFindAWriteOfUnknownOutcomeThatTookEffectTwice() throws IOException {
        hold("key 0.0", 6);
        assertThat(check(put(5, Outcome.UNKNOWN), get(5), put(6, Outcome.DONE))).isEmpty();
        hold("key 0.0", 5);
        assertThat(check()).singleElement().asString().contains("never written");
    }

    @Test
    void shouldAcceptAWriteOfUnknownOutcomeThatTakesEffectLate() throws IOException {
        hold("key 0.0", 6);
        assertThat(check(put(5, Outcome.UNKNOWN), put(6, Outcome.DONE))).isEmpty();
        hold("key 0.0", 5);
        assertThat(check()).isEmpty();
    }

    @Test
    void shouldFindARefusedWriteThatTakesEffectLate() throws IOException {
        assertThat(check(put(5, Outcome.REFUSED))).isEmpty();
        hold("key 0.0", 5);
        assertThat(check()).singleElement().asString().contains("never written");
    }

    @Test
    void shouldRetireAKeyOfSeveralUnknownOutcomesAndJudgeItAtTheEnd() throws IOException {
        assertThat(check(put(5, Outcome.UNKNOWN), put(6, Outcome.UNKNOWN), put(7, Outcome.UNKNOWN)))
                .isEmpty();
        assertThat(checker.generations()).containsExactly(1, 0, 0, 0);
        assertThat(checker.retired()).isEqualTo(1);
        hold("key 0.1", 8);
        assertThat(check(put(8, Outcome.DONE))).isEmpty();
        hold("key 0.0", 6);
        assertThat(checker.checkRetired()).isEmpty();
        hold("key 0.0", 9);
        assertThat(checker.checkRetired()).singleElement().asString().contains("never written");
    }

    @Test
    void shouldFindIncrementsAndLinksThatNobodyMade() throws IOException {
        counters.put("key 2.0", 2L);
        cache.put("key 3.0", ChainLink.NONE.next(11).toText());
        final Window window = new Window();
        window.add(COUNTER, new ChainEvent(0, true, ChainLink.count(1), Outcome.DONE, 1, 2));
        window.add(CHAIN, new ChainEvent(0, true, ChainLink.NONE.next(11), Outcome.REFUSED, 1, 2));
        assertThat(checker.check(window))
                .hasSize(2)
                .anyMatch(text -> text.contains("key 2: the counter went from 0 to 2"))
                .anyMatch(text -> text.contains("key 3: a write took effect although"));
    }

    @Test
    void shouldFindATornValue() throws IOException {
        cache.put("key 1.0", "abc");
        assertThat(check()).singleElement().asString().contains("key 1: this value was never written");
    }
}
