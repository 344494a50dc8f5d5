package org.rowankv.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SplittableRandomSource;

/** Contract of a session and the client above it, for one caller; every kind of session runs it. */
public abstract class SessionContract {
    private static final byte[] KEY = bytes("key");

    private Session session;
    private RowanClient client;
    private int cache;
    private final Request request = new Request();

    /** Creates an empty store. */
    protected abstract Session open(Clock clock);

    /** Closes the store; idempotent. */
    protected void close(Session opened) {
        opened.close();
    }

    /** Clock of the store's lifetimes. */
    protected abstract Clock clock();

    /** Clock of the session and its client. */
    protected Clock sessionClock() {
        return clock();
    }

    /** Advances the clock. */
    protected abstract void passMs(long ms);

    protected static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @BeforeEach
    void openStore() {
        session = open(clock());
        client = new RowanClient(session, sessionClock(), new SplittableRandomSource(1));
        cache = client.catalogue().create("cache", bytes("descriptor")).id();
    }

    @AfterEach
    void closeStore() {
        client.close();
        close(session);
    }

    private Request get() {
        return request.get(cache, KEY, 0, KEY.length);
    }

    private Request put(String value) {
        final byte[] bytes = bytes(value);
        return request.put(cache, KEY, 0, KEY.length, bytes, 0, bytes.length);
    }

    private Request delete() {
        return request.delete(cache, KEY, 0, KEY.length);
    }

    private void answers(Request asked, Status status, int bits) {
        client.execute(asked);
        assertThat(asked.status()).isEqualTo(status);
        assertThat(asked.bits()).isEqualTo(bits);
    }

    private String result() {
        final byte[] bytes = request.resultBytes();
        return bytes == null ? null : new String(bytes, UTF_8);
    }

    private String present() {
        final byte[] value = client.get(cache, KEY);
        return value == null ? null : new String(value, UTF_8);
    }

    // --- plain ---

    @Test
    void shouldCreateUpdateAndRemove() {
        answers(put("a"), Status.OK, ResultBits.CREATED);
        final long first = request.version();
        assertThat(request.previousVersion()).isZero();
        answers(put("b"), Status.OK, ResultBits.EXISTED | ResultBits.UPDATED);
        assertThat(request.previousVersion()).isEqualTo(first);
        assertThat(request.version()).isGreaterThan(first);
        assertThat(request.hasResult()).isFalse();
        answers(get(), Status.OK, ResultBits.EXISTED);
        assertThat(result()).isEqualTo("b");
        answers(delete(), Status.OK, ResultBits.EXISTED | ResultBits.REMOVED);
        answers(delete(), Status.NOT_FOUND, 0);
        answers(get(), Status.NOT_FOUND, 0);
    }

    @Test
    void shouldReturnOldValuesWhenWanted() {
        put("a");
        answers(request.requestValue(true), Status.OK, ResultBits.CREATED);
        assertThat(request.hasResult()).isFalse();
        put("b");
        answers(request.requestValue(true), Status.OK, ResultBits.EXISTED | ResultBits.UPDATED);
        assertThat(result()).isEqualTo("a");
        delete();
        answers(request.requestValue(true), Status.OK, ResultBits.EXISTED | ResultBits.REMOVED);
        assertThat(result()).isEqualTo("b");
    }

    @Test
    void shouldReadTheVersionAlone() {
        client.put(cache, KEY, bytes("a"));
        get().requestValue(false);
        answers(request, Status.OK, ResultBits.EXISTED);
        assertThat(request.hasResult()).isFalse();
        assertThat(request.version()).isPositive();
    }

    @Test
    void shouldReadTheEndOfTheLifetimeIfAsked() {
        client.execute(put("a").ttl(60_000, Ttl.ETERNAL));
        final long nowMs = clock().wallMs();
        answers(get().requestExpiry(true), Status.OK, ResultBits.EXISTED);
        assertThat(request.expiryMs()).isBetween(nowMs, nowMs + 60_000);
        assertThat(result()).isEqualTo("a");
        answers(get().requestValue(false).requestExpiry(true), Status.OK, ResultBits.EXISTED);
        assertThat(request.expiryMs()).isBetween(nowMs, nowMs + 60_000);
        assertThat(request.hasResult()).isFalse();

        client.put(cache, KEY, bytes("b"));
        answers(get().requestExpiry(true), Status.OK, ResultBits.EXISTED);
        assertThat(request.expiryMs()).isEqualTo(Long.MAX_VALUE);
        answers(get(), Status.OK, ResultBits.EXISTED);
        assertThat(request.previousVersion()).as("not asked").isZero();
    }

    @Test
    void shouldKeepEmptyKeysAndValues() {
        final byte[] none = {};
        assertThat(client.put(cache, none, none).applied()).isTrue();
        assertThat(client.get(cache, none)).isEmpty();
        assertThat(client.remove(cache, none).existed()).isTrue();
    }

    @Test
    void shouldKeepCachesApart() {
        final int other = client.catalogue().create("other", bytes("")).id();
        client.put(cache, KEY, bytes("a"));
        assertThat(client.get(other, KEY)).isNull();
        client.put(other, KEY, bytes("b"));
        client.clear(cache);
        assertThat(client.get(cache, KEY)).isNull();
        assertThat(client.get(other, KEY)).isEqualTo(bytes("b"));
    }

    // --- conditions ---

    @Test
    void shouldPutIfAbsent() {
        answers(put("a").when(Condition.IF_ABSENT), Status.OK, ResultBits.CREATED);
        final long version = request.version();
        put("b").when(Condition.IF_ABSENT).requestValue(true);
        answers(request, Status.CONDITION_FAILED, ResultBits.EXISTED);
        assertThat(request.version()).isEqualTo(version);
        assertThat(result()).isEqualTo("a");
        assertThat(present()).isEqualTo("a");
    }

    @Test
    void shouldPutIfPresent() {
        client.execute(put("a").when(Condition.IF_PRESENT));
        assertThat(request.status()).isIn(Status.NOT_FOUND, Status.CONDITION_FAILED);
        assertThat(present()).isNull();
        client.put(cache, KEY, bytes("a"));
        answers(put("b").when(Condition.IF_PRESENT), Status.OK, ResultBits.EXISTED | ResultBits.UPDATED);
    }

    @Test
    void shouldReplaceAndRemoveByVersion() {
        final long version = client.put(cache, KEY, bytes("a")).version();
        assertThat(client.replaceIfVersion(cache, KEY, bytes("x"), version - 1).applied())
                .isFalse();
        final WriteResult replaced = client.replaceIfVersion(cache, KEY, bytes("b"), version);
        assertThat(replaced.applied()).isTrue();
        assertThat(replaced.previousVersion()).isEqualTo(version);
        assertThat(client.replaceIfVersion(cache, KEY, bytes("x"), version).applied())
                .isFalse();
        assertThat(client.removeIfVersion(cache, KEY, version).applied()).isFalse();
        assertThat(client.removeIfVersion(cache, KEY, replaced.version()).applied())
                .isTrue();
        assertThat(client.removeIfVersion(cache, KEY, replaced.version()).applied())
                .isFalse();
        assertThat(client.replaceIfVersion(cache, KEY, bytes("x"), replaced.version())
                        .applied())
                .isFalse();
        assertThat(present()).isNull();
    }

    @Test
    void shouldStoreALoadOnlyIfNothingHappenedSinceTheMiss() {
        final long miss = client.getVersioned(cache, KEY).version();
        client.put(cache, KEY, bytes("a"));
        client.remove(cache, KEY);
        client.execute(put("stale").when(Condition.IF_ABSENT_SINCE, miss));
        assertThat(request.status()).isEqualTo(Status.CONDITION_FAILED);
        final long later = client.getVersioned(cache, KEY).version();
        client.execute(put("fresh").when(Condition.IF_ABSENT_SINCE, later));
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(present()).isEqualTo("fresh");
    }

    @Test
    void shouldRefuseALoadFromBeforeAClear() {
        client.put(cache, KEY, bytes("a"));
        client.remove(cache, KEY);
        final long miss = client.getVersioned(cache, KEY).version();
        client.clear(cache);
        client.execute(put("stale").when(Condition.IF_ABSENT_SINCE, miss));
        assertThat(request.status()).isEqualTo(Status.CONDITION_FAILED);
    }

    // --- lifetimes ---

    @Test
    void shouldExpireOnceAndSaySo() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        passMs(99);
        answers(get(), Status.OK, ResultBits.EXISTED);
        passMs(1);
        answers(get(), Status.NOT_FOUND, ResultBits.EXPIRED);
        assertThat(result()).isEqualTo("a");
        final long miss = request.version();
        answers(get(), Status.NOT_FOUND, 0);
        client.execute(put("b").when(Condition.IF_ABSENT_SINCE, miss));
        assertThat(request.status()).isEqualTo(Status.OK);
    }

    @Test
    void shouldCreateOverAnExpiredObject() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        passMs(100);
        put("b").when(Condition.IF_ABSENT).requestValue(true);
        answers(request, Status.OK, ResultBits.CREATED | ResultBits.EXPIRED);
        assertThat(result()).isEqualTo("a");
        assertThat(present()).isEqualTo("b");
    }

    @Test
    void shouldFindNothingToRemoveInAnExpiredObject() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        passMs(100);
        answers(delete(), Status.NOT_FOUND, ResultBits.EXPIRED);
    }

    @Test
    void shouldKeepTheLifetimeOnAnUnchangedUpdate() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        client.execute(put("b").ttl(Ttl.ETERNAL, Ttl.UNCHANGED));
        passMs(100);
        assertThat(present()).isNull();
    }

    @Test
    void shouldGiveANewLifetimeOnUpdate() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        client.execute(put("b").ttl(Ttl.ETERNAL, 1_000));
        passMs(100);
        assertThat(present()).isEqualTo("b");
        passMs(900);
        assertThat(present()).isNull();
    }

    @Test
    void shouldStoreNothingThatIsBornExpired() {
        answers(put("a").ttl(Ttl.IMMEDIATE, Ttl.ETERNAL), Status.OK, ResultBits.BORN_EXPIRED);
        answers(get(), Status.NOT_FOUND, 0);
    }

    @Test
    void shouldEndAnObjectByAnImmediateUpdate() {
        client.put(cache, KEY, bytes("a"));
        put("b").ttl(Ttl.ETERNAL, Ttl.IMMEDIATE).requestValue(true);
        answers(request, Status.OK, ResultBits.EXISTED | ResultBits.BORN_EXPIRED);
        assertThat(result()).isEqualTo("a");
        answers(get(), Status.NOT_FOUND, 0);
    }

    @Test
    void shouldTouchOnReadAndKeepTheVersion() {
        client.execute(put("a").ttl(100, Ttl.ETERNAL));
        final long version = request.version();
        passMs(50);
        answers(get().accessTtl(100), Status.OK, ResultBits.EXISTED | ResultBits.TOUCHED);
        assertThat(request.version()).isEqualTo(version);
        passMs(99);
        answers(get(), Status.OK, ResultBits.EXISTED);
        assertThat(request.version()).isEqualTo(version);
        passMs(1);
        answers(get(), Status.NOT_FOUND, ResultBits.EXPIRED);
    }

    @Test
    void shouldServeTheReadThatEndsAnObject() {
        client.put(cache, KEY, bytes("a"));
        client.execute(get().accessTtl(Ttl.IMMEDIATE));
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(result()).isEqualTo("a");
        answers(get(), Status.NOT_FOUND, 0);
    }

    @Test
    void shouldTouchByVersion() {
        final long version = client.put(cache, KEY, bytes("a")).version();
        client.execute(request.touch(cache, KEY, 0, KEY.length, version, 100));
        assertThat(request.status()).isEqualTo(Status.OK);
        assertThat(request.has(ResultBits.TOUCHED)).isTrue();
        client.execute(request.touch(cache, KEY, 0, KEY.length, version - 1, 5_000));
        assertThat(request.status()).isEqualTo(Status.CONDITION_FAILED);
        assertThat(client.replaceIfVersion(cache, KEY, bytes("b"), version).applied())
                .isTrue();
        client.execute(request.touch(cache, KEY, 0, KEY.length, version, 100));
        assertThat(request.status()).isEqualTo(Status.CONDITION_FAILED);
    }

    // --- many ---

    @Test
    void shouldScanEveryObjectOnce() {
        final Set<String> expected = new HashSet<>();
        for (int i = 0; i < 2_000; i++) {
            final String key = "key" + i;
            client.put(cache, bytes(key), bytes("v" + i));
            expected.add(key + "=v" + i);
        }
        final Set<String> seen = new HashSet<>();
        final ScanCursor cursor = client.scan(cache, true);
        while (cursor.hasNext()) {
            final ScanPage.Entry entry = cursor.next();
            assertThat(seen.add(new String(entry.key(), UTF_8) + "=" + new String(entry.value(), UTF_8)))
                    .isTrue();
        }
        assertThat(seen).isEqualTo(expected);
        assertThatThrownBy(cursor::next).isInstanceOf(java.util.NoSuchElementException.class);
    }

    @Test
    void shouldNotScanWhatIsRemovedExpiredOrCleared() {
        client.put(cache, bytes("stays"), bytes("a"));
        client.put(cache, bytes("removed"), bytes("a"));
        client.remove(cache, bytes("removed"));
        client.execute(put("a").ttl(10, Ttl.ETERNAL));
        passMs(10);
        final ScanCursor keys = client.scan(cache, false);
        assertThat(keys.next().key()).isEqualTo(bytes("stays"));
        assertThat(keys.hasNext()).isFalse();
        client.clear(cache);
        assertThat(client.scan(cache, false).hasNext()).isFalse();
    }

    // --- the catalogue ---

    @Test
    void shouldReturnTheCacheThatIsThere() {
        final Catalogue.CacheRecord again = client.catalogue().create("cache", bytes("another"));
        assertThat(again.id()).isEqualTo(cache);
        assertThat(again.descriptor()).isEqualTo(bytes("descriptor"));
        assertThat(client.catalogue().list())
                .extracting(Catalogue.CacheRecord::name)
                .containsExactly("cache");
        assertThat(client.catalogue().find("missing")).isNull();
    }

    @Test
    void shouldRefuseADestroyedCacheAndNeverUseItsIdAgain() {
        client.put(cache, KEY, bytes("a"));
        assertThat(client.catalogue().destroy("cache")).isTrue();
        assertThat(client.catalogue().destroy("cache")).isFalse();
        client.execute(get());
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        client.execute(put("b"));
        assertThat(request.status()).isEqualTo(Status.UNKNOWN_CACHE);
        final int next = client.catalogue().create("cache", bytes("")).id();
        assertThat(next).isNotEqualTo(cache);
        assertThat(client.get(next, KEY)).isNull();
    }

    @Test
    void shouldSayThatItIsClosed() {
        close(session);
        client.execute(get());
        assertThat(request.status()).isEqualTo(Status.CLOSED);
        assertThatThrownBy(() -> client.put(cache, KEY, bytes("a")))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("closed");
    }
}
