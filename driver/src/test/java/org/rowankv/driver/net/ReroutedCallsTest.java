package org.rowankv.driver.net;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/**
 * Shards leave a server while requests for them wait there. Attempts and connections have far more time than the test:
 * what waits for the server fails.
 */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // an interrupt ends no call of a client
final class ReroutedCallsTest {
    private static final int SHARDS = 8;
    private static final long LONG_NS = TimeUnit.MINUTES.toNanos(10);
    private static final NetSettings SETTINGS =
            NetSettings.DEFAULT.withConnections(1, 64).withTimes(LONG_NS, LONG_NS);
    /** A client that waits so long for a newer configuration does not ask for it. */
    private static final long NEVER_NS = LONG_NS;

    private final ModelSession model = new ModelSession(SystemClock.INSTANCE, SHARDS);
    private final int cache = model.catalogue().create("cache", new byte[0]).id();
    private ModelPorts ports;
    private NetSession session;
    private RowanClient client;

    @BeforeEach
    void open() throws IOException {
        ports = new ModelPorts(model, 3, 1 << 20);
        ports.place(List.of(0, 1), Collections.nCopies(SHARDS, 0));
    }

    @AfterEach
    void close() throws IOException {
        if (session != null) {
            session.close();
        }
        ports.close();
        assertThat(ports.failures()).isEmpty();
    }

    private void connect(NetSettings settings) {
        session = NetSession.connect(List.of(ports.address(1)), settings, SystemClock.INSTANCE);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1), LONG_NS);
    }

    /** A key of a shard with an odd number. */
    private byte[] keyAtPortOne() {
        final KeyHash hash = new KeyHash(model.configuration().hashSeed());
        int number = 0;
        while (ShardMap.shardOf(hash.hash(cache, bytes(number), 0, bytes(number).length), SHARDS) % 2 == 0) {
            number++;
        }
        return bytes(number);
    }

    private static byte[] bytes(int number) {
        return ("key" + number).getBytes(UTF_8);
    }

    private List<Request> puts() {
        final List<Request> puts = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            puts.add(new Request().put(cache, bytes(i), 0, bytes(i).length, bytes(i), 0, 3));
        }
        return puts;
    }

    private Thread start(ConnectedClientTest.Way way, List<Request> requests) {
        final Thread caller = new Thread(() -> way.carryOut(client, requests));
        caller.start();
        return caller;
    }

    private void moveAll() {
        ports.place(List.of(0, 1), Collections.nCopies(SHARDS, 1));
    }

    /** Each is applied once: the model would update what a second attempt finds. */
    private static void requireAppliedOnce(List<Request> puts) {
        for (Request put : puts) {
            assertThat(put.status()).isEqualTo(Status.OK);
            assertThat(ResultBits.has(put.bits(), ResultBits.CREATED)).isTrue();
        }
    }

    /** It was stopped: no connection breaks. Another server knows the next configuration before long. */
    @ParameterizedTest
    @EnumSource(ConnectedClientTest.Way.class)
    void shouldAskTheOthersWhenAServerIsSilent(ConnectedClientTest.Way way) throws Exception {
        connect(SETTINGS);
        way.carryOut(client, List.of(new Request().get(cache, bytes(1), 0, 4)));
        ports.silence(0);
        final List<Request> puts = puts();
        final Thread caller = start(way, puts);
        await().until(() -> ports.unanswered() > 0 && ports.routingRequests() > 2);
        moveAll();
        caller.join();
        requireAppliedOnce(puts);
    }

    /** Requests are in flight at a server that is silent, and the routing arrives on a connection to another one. */
    @ParameterizedTest
    @EnumSource(ConnectedClientTest.Way.class)
    void shouldEndAttemptsWhenAPushedRoutingHasTheirShardElsewhere(ConnectedClientTest.Way way) throws Exception {
        final List<Integer> halves = List.of(0, 1, 0, 1, 0, 1, 0, 1);
        ports.place(List.of(0, 1), halves);
        connect(SETTINGS.withSilenceNs(NEVER_NS));
        puts().forEach(put -> client.get(cache, put.key())); // connects to both
        ports.silence(0);
        final List<Request> puts = puts();
        final Thread caller = start(way, puts);
        await().until(() -> ports.unanswered() > 0);
        moveAll();
        ports.push();
        client.get(cache, keyAtPortOne()); // reads what was pushed
        caller.join();
        requireAppliedOnce(puts);
    }

    @ParameterizedTest
    @EnumSource(ConnectedClientTest.Way.class)
    void shouldFindTheNextPrimaryOfAServerThatHasEnded(ConnectedClientTest.Way way) throws Exception {
        connect(SETTINGS.withSilenceNs(LONG_NS));
        way.carryOut(client, List.of(new Request().get(cache, bytes(1), 0, 4)));
        ports.kill(0);
        final List<Request> puts = puts();
        final Thread caller = start(way, puts);
        final int before = ports.routingRequests();
        await().until(() -> ports.routingRequests() > before + 2);
        moveAll();
        caller.join();
        requireAppliedOnce(puts);
    }

    /** A shard that is being opened, a server without a lease, one that ends: all say that nothing was applied. */
    @ParameterizedTest
    @EnumSource(ConnectedClientTest.Way.class)
    void shouldRepeatWhatIsRefusedForAWhile(ConnectedClientTest.Way way) {
        final Queue<Status> refusals = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 20; i++) {
            refusals.addAll(List.of(Status.NOT_PRIMARY, Status.STALE_TERM, Status.CLOSED, Status.UNREACHABLE));
        }
        model.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                final Status next = refusals.poll();
                return next == null ? Status.OK : next;
            }
        });
        connect(SETTINGS);
        final List<Request> puts = puts();
        way.carryOut(client, puts);
        requireAppliedOnce(puts);
        final List<Request> gets = new ArrayList<>();
        puts.forEach(put -> gets.add(new Request().get(cache, put.key(), 0, put.keyLength())));
        refusals.addAll(Collections.nCopies(60, Status.NOT_PRIMARY));
        way.carryOut(client, gets);
        assertThat(gets).extracting(Request::status).containsOnly(Status.OK);
        assertThat(refusals).isEmpty();
    }

    /** What it did not answer, because it fails, is settled by the next primary. */
    @Test
    void shouldSettleAtTheNextPrimaryWhatAFailedServerDoesNotKnow() {
        final AtomicInteger unknown = new AtomicInteger(5);
        model.interceptWith(new ModelSession.Interceptor() {
            @Override
            public Status refuse(Request request) {
                return request.operation() == Operation.PUT && unknown.getAndDecrement() > 0
                        ? Status.OUTCOME_UNKNOWN
                        : Status.OK;
            }
        });
        connect(SETTINGS);
        final List<Request> puts = puts();
        puts.forEach(client::execute);
        requireAppliedOnce(puts);
    }

    /** A server that is asked and says nothing new is asked again after growing pauses. */
    @Test
    void shouldNotHammerServersWithRequestsForTheRouting() throws Exception {
        connect(SETTINGS.withSilenceNs(1_000_000));
        client.execute(new Request().get(cache, bytes(1), 0, 4));
        ports.silence(0);
        final Thread caller = start(ConnectedClientTest.Way.ONE_BY_ONE, puts());
        await().until(() -> ports.routingRequests() > 1);
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        final int before = ports.routingRequests();
        TimeUnit.SECONDS.sleep(1);
        final int requests = ports.routingRequests() - before;
        // However much longer than a second it was.
        assertThat(requests * 1_000_000_000L)
                .as("%d, eight in a second", requests)
                .isLessThan(8 * (SystemClock.INSTANCE.nanoTime() - fromNs));
        moveAll();
        caller.join();
    }

    /** A server is excluded, and has an address again when it returns. */
    @Test
    void shouldCountConnectionsToAServerThatReturns() {
        connect(SETTINGS);
        client.get(cache, bytes(1));
        assertThat(session.reconnects()).isZero();
        final long made = session.connectionsMade();
        follow(1);
        client.get(cache, bytes(1));
        assertThat(session.connectionsMade()).isGreaterThanOrEqualTo(made);
        assertThat(session.reconnects()).isZero();
        follow(0);
        client.get(cache, bytes(1));
        assertThat(session.reconnects()).isEqualTo(1);
        follow(2);
        assertThat(session.reconnects()).as("it never becomes less").isEqualTo(1);
        assertThat(session.connectionsMade()).isGreaterThan(made);
    }

    /** The port is that of the only server. */
    private void follow(int port) {
        ports.place(List.of(port), Collections.nCopies(SHARDS, 0));
        await().until(() -> session.seek(ports.term() - 1));
    }

    @Test
    void shouldStartWhenAServerOfItsConfigurationIsDead() throws IOException {
        final String dead = ports.address(0);
        final String silent = ports.address(2);
        ports.kill(0);
        ports.silence(2);
        moveAll();
        session = NetSession.connect(List.of(dead, silent, ports.address(1)), SETTINGS, SystemClock.INSTANCE);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1), LONG_NS);
        client.put(cache, bytes(1), bytes(1));
        assertThat(client.get(cache, bytes(1))).isEqualTo(bytes(1));
    }

    @Test
    void shouldSayWhyItCannotStart() throws IOException {
        final List<String> addresses = List.of(ports.address(0), ports.address(2));
        ports.kill(0);
        ports.kill(2);
        assertThatThrownBy(() -> NetSession.connect(addresses, SETTINGS, SystemClock.INSTANCE))
                .isInstanceOf(RowanException.class)
                .hasMessageContainingAll(addresses.get(0), addresses.get(1), "refused");
    }
}
