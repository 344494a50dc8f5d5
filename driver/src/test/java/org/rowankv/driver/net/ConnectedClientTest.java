package org.rowankv.driver.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.SystemClock;

/** A client connected to servers over a network. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // an interrupt ends no call of a client
final class ConnectedClientTest {
    private static final int MAX_FRAME = 4 << 10;
    private static final long ATTEMPT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final NetSettings SETTINGS =
            NetSettings.DEFAULT.withConnections(1, 4).withTimes(ATTEMPT_NS, ATTEMPT_NS);

    /** The ways in which an application submits requests. */
    enum Way {
        ONE_BY_ONE {
            @Override
            void carryOut(RowanClient client, List<Request> requests) {
                requests.forEach(client::execute);
            }
        },
        TOGETHER {
            @Override
            void carryOut(RowanClient client, List<Request> requests) {
                client.executeAll(requests);
            }
        },
        WITHOUT_WAITING {
            @Override
            void carryOut(RowanClient client, List<Request> requests) {
                CompletableFuture.allOf(requests.stream()
                                .map(each -> client.executeAsync(each).toCompletableFuture())
                                .toArray(CompletableFuture[]::new))
                        .join();
            }
        };

        abstract void carryOut(RowanClient client, List<Request> requests);
    }

    private final ModelSession model = new ModelSession(SystemClock.INSTANCE);
    private final int cache = model.catalogue().create("cache", new byte[0]).id();
    private ModelPorts ports;

    @BeforeEach
    void open() throws IOException {
        ports = new ModelPorts(model, 1, MAX_FRAME);
    }

    @AfterEach
    void close() throws IOException {
        ports.close();
        assertThat(ports.failures()).isEmpty();
    }

    private RowanClient connect() {
        return RowanClient.connect(List.of(ports.address(0)), SETTINGS, 2 * ATTEMPT_NS);
    }

    private Request put(String key, int valueLength) {
        final byte[] bytes = key.getBytes(UTF_8);
        return new Request().put(cache, bytes, 0, bytes.length, new byte[valueLength], 0, valueLength);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void shouldCloseWhatItOpenedAtTheShardsAndThenItsConnections(Way way) {
        final Set<String> open = ConcurrentHashMap.newKeySet();
        final Set<String> opened = ConcurrentHashMap.newKeySet();
        model.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                final String session = request.sessionId() + " at shard " + request.shard();
                if (request.operation() == Operation.OPEN_SESSION) {
                    open.add(session);
                    opened.add(session);
                } else if (request.operation() == Operation.CLOSE_SESSION) {
                    open.remove(session);
                }
                return Status.OK;
            }
        });
        final RowanClient client = connect();
        final List<Request> puts = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            puts.add(put("key " + i, 10));
        }
        way.carryOut(client, puts);
        assertThat(puts).extracting(Request::status).containsOnly(Status.OK);
        assertThat(opened).hasSizeGreaterThanOrEqualTo(model.configuration().shardCount());
        client.close();
        assertThat(open).as("of %d sessions", opened.size()).isEmpty();
        await().atMost(60, TimeUnit.SECONDS).until(() -> ports.connections() == 0);
    }

    private Request putOfFrame(String key, int frame) {
        return put(key, frame - RequestDescriptor.FIXED_LENGTH - key.length());
    }

    /** A frame that the server does not accept is not sent, and its caller does not wait. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void shouldRefuseAtOnceWhatIsLongerThanTheServerAccepts(Way way) {
        final RowanClient client = connect();
        final Request put = putOfFrame("key", MAX_FRAME + 1);
        way.carryOut(client, List.of(put));
        assertThat(put.status()).isEqualTo(Status.TOO_LARGE);
        client.close();
    }

    /** Repeatedly, among others: it neither delays requests nor uses a slot. A frame at the limit is stored. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void shouldStoreWhatIsAsLongAsTheServerAcceptsAndRefuseWhatIsLonger(Way way) {
        try (RowanClient client = connect()) {
            for (int round = 0; round < 3; round++) {
                final List<Request> puts = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    final String key = "key " + (char) ('a' + i);
                    puts.add(putOfFrame(key, MAX_FRAME - 1 + i % 3));
                }
                way.carryOut(client, puts);
                for (Request put : puts) {
                    assertThat(put.status())
                            .as(
                                    "a frame of %d bytes, where %d are accepted",
                                    RequestDescriptor.lengthOf(put), MAX_FRAME)
                            .isEqualTo(RequestDescriptor.lengthOf(put) > MAX_FRAME ? Status.TOO_LARGE : Status.OK);
                }
            }
            assertThat(client.reconnects()).isZero();
        }
    }

    @Test
    void shouldGiveBackEmptyValuesAndNone() {
        try (RowanClient client = connect()) {
            final byte[] key = "key".getBytes(UTF_8);
            assertThat(client.get(cache, key)).isNull();
            client.put(cache, key, new byte[0]);
            assertThat(client.get(cache, key)).isEmpty();
            assertThat(client.getAndRemove(cache, key).previousValue()).isEmpty();
        }
    }
}
