package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;
import org.rowankv.topology.ShardMap;

/**
 * One server of two is dead: operations on the other take no time by the client's clock. Operations on the dead one end
 * at their deadline, measured from submission.
 */
@Timeout(120)
final class DeadServerTest {
    private static final long CONNECT_MS = 200;
    private static final long ATTEMPT_MS = 500;
    private static final long DEADLINE_MS = 1_000;
    private static final int SEED = 8;
    private static final int COUNT = 300;
    /** Per server. */
    private static final int AT_ONCE = 128;

    private static final int ALIVE = 0;
    private static final int DEAD = 1;

    private final ManualClock clock = new ManualClock(1, 1);
    private final List<FakeServer> servers = List.of(new FakeServer(ALIVE), new FakeServer(DEAD));
    private final List<ClientPort> ports = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private NetSession session;
    private RowanClient client;

    /** One shard per server. */
    private Routing routing(long term) {
        final List<ShardAssignment> shards =
                List.of(new ShardAssignment(1, ALIVE, new int[0]), new ShardAssignment(1, DEAD, new int[0]));
        return new Routing(new Configuration(7, SEED, term, List.of(1L, 1L), shards), addresses);
    }

    @BeforeEach
    void open() throws IOException {
        for (FakeServer server : servers) {
            final ClientPort port = ClientPort.bind(
                    server,
                    new OneCache(),
                    ClientPortSettings.at("127.0.0.1", 0),
                    SystemClock.INSTANCE,
                    new ErrorLog(SystemClock.INSTANCE));
            ports.add(port);
            addresses.add("127.0.0.1:" + port.address().getPort());
            server.primary = true;
        }
        ports.forEach(port -> port.serve(routing(1)));
    }

    private void connect() {
        connect(clock, NetSettings.DEFAULT);
    }

    private void connect(Clock time, NetSettings settings) {
        session = NetSession.connect(
                List.of(addresses.get(ALIVE)),
                settings.withTimes(CONNECT_MS * 1_000_000, ATTEMPT_MS * 1_000_000),
                time);
        client = new RowanClient(session, time, new SplittableRandomSource(1), DEADLINE_MS * 1_000_000);
    }

    @AfterEach
    void close() {
        servers.forEach(server -> server.hanging.clear());
        session.close();
        ports.forEach(ClientPort::close);
    }

    private static List<byte[]> keysAt(int shard, int count) {
        final KeyHash hash = new KeyHash(SEED);
        return IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> new byte[] {(byte) (i >> 16), (byte) (i >> 8), (byte) i})
                .filter(key -> ShardMap.shardOf(hash.hash(1, key, 0, key.length), 2) == shard)
                .limit(count)
                .toList();
    }

    private static Request get(byte[] key) {
        return new Request().get(1, key, 0, key.length);
    }

    private static Request put(byte[] key) {
        return new Request().put(1, key, 0, key.length, key, 0, key.length);
    }

    private List<CompletableFuture<Request>> submit(int shard, int count, Function<byte[], Request> to) {
        return keysAt(shard, count).stream()
                .map(key -> client.executeAsync(to.apply(key)).toCompletableFuture())
                .toList();
    }

    private static List<Status> statusOf(Collection<CompletableFuture<Request>> stages) {
        return stages.stream()
                .filter(CompletableFuture::isDone)
                .map(stage -> stage.join().status())
                .toList();
    }

    private static void awaitAll(Collection<CompletableFuture<Request>> stages) {
        await().atMost(Duration.ofSeconds(60)).until(() -> statusOf(stages).size() == stages.size());
    }

    /** Time passes a little: a refused attempt, as by an older configuration, is repeated after a pause. */
    private void assertAllOk(List<CompletableFuture<Request>> stages) {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            clock.advanceMs(1);
            return statusOf(stages).size() == stages.size();
        });
        assertThat(statusOf(stages)).containsOnly(Status.OK);
    }

    /** Advances in parts, not past the deadline. */
    private void passDeadline() {
        for (long ms = 0; ms < DEADLINE_MS; ms += ATTEMPT_MS / 5) {
            clock.advanceMs(ATTEMPT_MS / 5);
        }
    }

    @Test
    void shouldDelayNobodyElseWhenAServerRefusesConnections() {
        ports.get(DEAD).close();
        connect();
        final List<CompletableFuture<Request>> dead = Stream.concat(
                        submit(DEAD, COUNT / 2, DeadServerTest::get).stream(),
                        submit(DEAD, COUNT / 2, DeadServerTest::put).stream())
                .toList();
        assertAllOk(submit(ALIVE, COUNT, DeadServerTest::put));
        assertAllOk(submit(ALIVE, COUNT, DeadServerTest::get));
        assertThat(statusOf(dead)).as("no time has passed").isEmpty();
        passDeadline();
        awaitAll(dead);
        assertThat(statusOf(dead)).as("none was sent").containsOnly(Status.UNREACHABLE);
    }

    @Test
    void shouldShareTheAttemptToConnect() throws IOException {
        final Collection<Socket> accepted = new ConcurrentLinkedQueue<>();
        try (ServerSocket silent = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress())) {
            final Thread acceptor = new Thread(() -> {
                while (!silent.isClosed()) {
                    try {
                        accepted.add(silent.accept());
                    } catch (IOException e) {
                        assertThat(silent.isClosed()).isTrue();
                    }
                }
            });
            acceptor.start();
            addresses.set(DEAD, "127.0.0.1:" + silent.getLocalPort());
            ports.forEach(port -> port.publish(routing(2)));
            connect();
            final List<CompletableFuture<Request>> dead = submit(DEAD, COUNT, DeadServerTest::get);
            await().until(() -> !accepted.isEmpty());
            assertAllOk(submit(ALIVE, COUNT, DeadServerTest::get));
            assertThat(accepted).hasSize(1);
            passDeadline();
            awaitAll(dead);
            assertThat(statusOf(dead)).containsOnly(Status.UNREACHABLE);
        }
        for (Socket each : accepted) {
            each.close();
        }
    }

    /** The server of the shard accepts connections and does not answer; the other one serves the shard by now. */
    @Test
    void shouldFindTheNextPrimaryInSpiteOfShortDeadlines() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress())) {
            addresses.set(DEAD, "127.0.0.1:" + silent.getLocalPort());
            ports.forEach(port -> port.publish(routing(2)));
            session = NetSession.connect(
                    List.of(addresses.get(ALIVE)),
                    NetSettings.DEFAULT.withTimes(60_000_000_000L, 60_000_000_000L),
                    SystemClock.INSTANCE);
            client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1), 20_000_000);
            final Request get = get(keysAt(DEAD, 1).get(0));
            client.execute(get);
            assertThat(get.status()).isEqualTo(Status.UNREACHABLE);

            final ShardAssignment alive = new ShardAssignment(3, ALIVE, new int[0]);
            final Routing next =
                    new Routing(new Configuration(7, SEED, 3, List.of(1L, 1L), List.of(alive, alive)), addresses);
            ports.forEach(port -> port.publish(next));
            for (int i = 0; i < 500 && get.status() != Status.OK; i++) {
                client.execute(get);
            }
            assertThat(get.status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void shouldSayOfWhatWasSentThatItsOutcomeIsUnknownAndOfTheRestThatItWasNotApplied() {
        connect();
        client.execute(
                get(keysAt(DEAD, 1).get(0))); // without a connection it retries later, and the clock stands still
        servers.get(DEAD).hanging.add(Operation.PUT);
        final List<CompletableFuture<Request>> dead = submit(DEAD, COUNT, DeadServerTest::put);
        assertAllOk(submit(ALIVE, COUNT, DeadServerTest::put));
        await().untilAsserted(() -> assertThat(servers.get(DEAD).hung).hasValue(AT_ONCE));
        assertThat(statusOf(dead)).as("no time has passed").isEmpty();
        passDeadline();
        awaitAll(dead);
        assertThat(statusOf(dead.subList(0, AT_ONCE))).containsOnly(Status.OUTCOME_UNKNOWN);
        assertThat(statusOf(dead.subList(AT_ONCE, COUNT))).containsOnly(Status.UNREACHABLE);
    }

    @Test
    void shouldEndAnOperationThatWaitsAtItsDeadline() throws InterruptedException {
        connect();
        servers.get(DEAD).hanging.add(Operation.PUT);
        servers.get(DEAD).hanging.add(Operation.GET);
        final List<Request> requests = List.of(
                put(keysAt(DEAD, 1).get(0)),
                get(keysAt(DEAD, 1).get(0)),
                put(keysAt(DEAD, 2).get(1)));
        final List<Thread> callers = new ArrayList<>();
        for (Request request : requests) {
            callers.add(new Thread(() -> client.execute(request)));
        }
        callers.forEach(Thread::start);
        await().until(() -> servers.get(DEAD).hung.get() == requests.size());
        passDeadline();
        for (Thread caller : callers) {
            caller.join(60_000);
            assertThat(caller.isAlive()).isFalse();
        }
        assertThat(requests.stream().map(Request::status))
                .containsExactly(Status.OUTCOME_UNKNOWN, Status.NO_REPLY, Status.OUTCOME_UNKNOWN);
    }

    @Test
    void shouldDelayNobodyElseWhenManyCallersWait() throws InterruptedException {
        connect();
        servers.get(DEAD).hanging.add(Operation.PUT);
        final List<Thread> callers = keysAt(DEAD, 2 * AT_ONCE).stream()
                .map(key -> new Thread(() -> client.execute(put(key))))
                .toList();
        callers.forEach(Thread::start);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> servers.get(DEAD).hung.get() == 2 * AT_ONCE);
        final Request put = put(keysAt(ALIVE, 1).get(0));
        client.execute(put);
        assertThat(put.status()).isEqualTo(Status.OK);
        passDeadline();
        for (Thread caller : callers) {
            caller.join();
        }
    }

    @Test
    void shouldCarryOutTheRestOfABulkBeforeTheDeadline() throws InterruptedException {
        connect();
        servers.get(DEAD).hanging.add(Operation.PUT);
        final IntFunction<List<Request>> puts =
                shard -> keysAt(shard, COUNT).stream().map(DeadServerTest::put).toList();
        final List<Request> alive = puts.apply(ALIVE);
        final List<Request> dead = puts.apply(DEAD);
        final List<Request> all = IntStream.range(0, COUNT)
                .boxed()
                .flatMap(i -> Stream.of(dead.get(i), alive.get(i)))
                .toList();
        final Thread caller = new Thread(() -> client.executeAll(all));
        caller.start();
        await().until(() -> servers.get(DEAD).hung.get() > 0);
        clock.advanceMs(ATTEMPT_MS);
        await().until(() -> alive.stream().allMatch(request -> request.status() == Status.OK));
        clock.advanceMs(DEADLINE_MS - ATTEMPT_MS);
        caller.join(60_000);
        assertThat(caller.isAlive()).isFalse();
        assertThat(dead.stream().map(Request::status).collect(Collectors.toSet()))
                .containsExactlyInAnyOrder(Status.OUTCOME_UNKNOWN, Status.UNREACHABLE);
    }

    /** One attempt without an answer is enough, although it was sent a moment after it began. */
    @Test
    void shouldBreakASilentConnectionForACallerThatDoesNotWait() {
        final Clock ticking = new Clock() {
            @Override
            public long nanoTime() {
                clock.advanceNs(1);
                return clock.nanoTime();
            }

            @Override
            public long wallMs() {
                return clock.wallMs();
            }
        };
        // One connection, re-established by any calling thread.
        connect(ticking, NetSettings.DEFAULT.withConnections(1, 256));
        client.execute(get(keysAt(DEAD, 1).get(0)));
        servers.get(DEAD).hanging.add(Operation.GET);
        final List<CompletableFuture<Request>> lost = submit(DEAD, 1, DeadServerTest::get);
        await().until(() -> servers.get(DEAD).hung.get() == 1);
        clock.advanceMs(ATTEMPT_MS);
        await().until(() -> session.reconnects() == 1);
        passDeadline();
        awaitAll(lost);
    }

    @Test
    void shouldSendNothingOfABatchBehindItsDeadline() {
        connect();
        final Request get = get(keysAt(ALIVE, 1).get(0));
        client.execute(get);
        final List<Request> late = new ArrayList<>(
                List.of(put(keysAt(ALIVE, 1).get(0)), put(keysAt(DEAD, 1).get(0))));
        session.callAll(late, clock.nanoTime());
        assertThat(late.stream().map(Request::status)).containsOnly(Status.UNREACHABLE);
        session.callAll(late, clock.nanoTime() - 1);
        assertThat(late.stream().map(Request::status)).containsOnly(Status.UNREACHABLE);
        client.execute(get); // after all earlier output
        assertThat(servers.get(ALIVE).answered).hasValue(2);
        assertThat(servers.get(DEAD).answered).hasValue(0);
    }

    @Test
    void shouldRefuseMoreThanItKeeps() {
        connect();
        servers.get(DEAD).hanging.add(Operation.GET);
        final byte[] key = keysAt(DEAD, 1).get(0);
        final List<CompletableFuture<Request>> taken = new ArrayList<>();
        assertThatThrownBy(() -> {
                    while (true) {
                        taken.add(client.executeAsync(get(key)).toCompletableFuture());
                    }
                })
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("was not sent");
        assertThat(taken).hasSize(AT_ONCE + 65_536);
        client.close();
        // A request that another thread took from the queue ends there, perhaps after the close.
        await().atMost(Duration.ofSeconds(60)).until(() -> statusOf(taken).size() >= 65_536);
        assertThat(statusOf(taken)).hasSize(65_536).containsOnly(Status.CLOSED);
        session.close();
        awaitAll(taken);
    }

    @Test
    void shouldAskWhetherAPortIsTheRightOne() throws IOException, InterruptedException {
        connect();
        try (ServerSocket other = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            final Thread closing = new Thread(() -> {
                try {
                    other.accept().close();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            closing.start();
            final String address = "127.0.0.1:" + other.getLocalPort();
            assertThatThrownBy(() -> NetSession.connect(List.of(address), NetSettings.DEFAULT, SystemClock.INSTANCE))
                    .isInstanceOf(RowanException.class)
                    .hasMessageContaining(address)
                    .hasMessageContaining("is that the port for clients (--listen)?");
            closing.join();
        }
    }
}
