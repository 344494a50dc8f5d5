package org.rowankv.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;

@Tag("jvm")
class RowanClientTest {
    private final ManualClock clock = new ManualClock();
    private final ModelSession session = new ModelSession(clock);
    private final RowanClient client = new RowanClient(session, clock, new SplittableRandomSource(1));
    private final int cache = client.catalogue().create("cache", new byte[0]).id();

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private void refuse(Status status) {
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                clock.advanceNs(RowanClient.DEFAULT_DEADLINE_NS / 4); // Otherwise it would be retried for ever.
                return request.operation() == Operation.OPEN_SESSION ? Status.OK : status;
            }
        });
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            names = {"FULL", "TOO_LARGE", "UNKNOWN_CACHE", "CORRUPTED", "BAD_REQUEST", "STALE_TERM", "NOT_PRIMARY"})
    void shouldThrowForEveryOutcomeThatIsNoResult(Status status) {
        refuse(status);
        assertThatThrownBy(() -> client.put(cache, bytes("k"), bytes("v")))
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(status));
        assertThat(session.calls()).isPositive();
    }

    @Test
    void shouldGiveAFullStoreATypeOfItsOwn() {
        refuse(Status.FULL);
        assertThatThrownBy(() -> client.put(cache, bytes("key"), bytes("value")))
                .isInstanceOf(StoreFullException.class)
                .hasMessageContaining("8 bytes");
    }

    @Test
    void shouldTellEachKeysOutcomeInBulk() {
        client.put(cache, bytes("full"), bytes("old"));
        session.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                return request.keyLength() == 4 ? Status.FULL : Status.OK;
            }
        });
        final List<BulkResult> results =
                client.putAll(cache, List.of(bytes("a"), bytes("full")), List.of(bytes("1"), bytes("2")));
        assertThat(results.get(0).failure()).isNull();
        assertThat(results.get(0).result().applied()).isTrue();
        assertThat(results.get(1).result()).isNull();
        assertThat(results.get(1).failure().status()).isEqualTo(Status.FULL);
        session.interceptWith(new ModelSession.Interceptor() {});
        assertThat(client.getAll(cache, List.of(bytes("full"), bytes("none"))))
                .extracting(VersionedValue::isPresent)
                .containsExactly(true, false);
        assertThat(client.removeAll(cache, List.of(bytes("full"), bytes("none"))))
                .extracting(result -> result.result().existed())
                .containsExactly(true, false);
    }

    @Test
    void shouldRefuseListsOfDifferentLength() {
        assertThatThrownBy(() -> client.putAll(cache, List.of(bytes("a")), List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldCompleteAsyncRequests() {
        final Request request = new Request().get(cache, bytes("k"), 0, 1);
        assertThat(client.executeAsync(request).toCompletableFuture().join().status())
                .isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void shouldGrowTheResultAndReuseTheRequest() {
        final byte[] large = new byte[100_000];
        large[99_999] = 7;
        client.put(cache, bytes("large"), large);
        client.put(cache, bytes("small"), bytes("s"));
        final Request request = new Request();
        client.execute(request.get(cache, bytes("large"), 0, 5));
        assertThat(request.resultBytes()).isEqualTo(large);
        client.execute(request.get(cache, bytes("small"), 0, 5));
        assertThat(request.resultBytes()).isEqualTo(bytes("s"));
        client.execute(request.get(cache, bytes("none"), 0, 4));
        assertThat(request.resultBytes()).isNull();
    }
}
