package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
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
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.RequestBackend;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** A port outlasts the roles of its server: requests are held meanwhile, and no connection is lost. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientPortPauseTest {
    private static final byte[] KEY = {1, 2, 3};
    private static final long TERM_OF_SERVER_0 = 1;

    /** One start of a server: answers or hangs, and records its requests. */
    private static final class Start implements RequestBackend {
        private final int id;
        private volatile boolean primary;
        private volatile boolean opening;
        private volatile Runnable observer = () -> {};
        private volatile boolean stuck;
        private final Queue<String> begun = new ConcurrentLinkedQueue<>();
        private volatile boolean abandoned;

        Start(int id, boolean primary) {
            this.id = id;
            this.primary = primary;
        }

        @Override
        public int serverId() {
            return id;
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            return this::callOf;
        }

        private PollableCall callOf(Request request) {
            return new StubCall() {
                @Override
                public void again() {
                    if (request.operation() != Operation.OPEN_SESSION
                            && request.operation() != Operation.CLOSE_SESSION) {
                        begun.add(request.operation() + " " + Long.toHexString(request.sessionId()) + "/"
                                + request.sequence());
                    }
                }

                @Override
                public boolean step() {
                    if (stuck && request.operation() == Operation.PUT) {
                        return false;
                    }
                    request.noResult();
                    request.answer(Status.OK, 0, 100 + id, 0);
                    return true;
                }

                @Override
                public void abandon() {
                    abandoned = true;
                }
            };
        }

        @Override
        public boolean isPrimary(int shard) {
            return primary;
        }

        @Override
        public boolean isOpening(int shard) {
            return opening;
        }

        @Override
        public void observe(Runnable newObserver) {
            observer = newObserver;
        }

        void become(boolean newPrimary, boolean newOpening) {
            primary = newPrimary;
            opening = newOpening;
            observer.run();
        }

        @Override
        public boolean isServing() {
            return true;
        }

        @Override
        public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
            return 0;
        }
    }

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final List<ClientPort> ports = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final Start first = new Start(0, true);
    private final Start second = new Start(1, false);
    private NetSession session;
    private RowanClient client;

    private Routing routing(long term, int primary) {
        return new Routing(
                new Configuration(
                        7, 8, term, List.of(1L, 1L), List.of(new ShardAssignment((int) term, primary, new int[0]))),
                addresses);
    }

    @BeforeEach
    void open() throws IOException {
        for (Start start : List.of(first, second)) {
            final ClientPort port = ClientPort.bind(
                    start, new OneCache(), ClientPortSettings.at("127.0.0.1", 0), clock, new ErrorLog(clock));
            ports.add(port);
            addresses.add("127.0.0.1:" + port.address().getPort());
        }
        ports.forEach(port -> port.serve(routing(TERM_OF_SERVER_0, 0)));
        session = NetSession.connect(
                addresses,
                NetSettings.DEFAULT.withConnections(1, 64).withTimes(60_000_000_000L, 60_000_000_000L),
                SystemClock.INSTANCE);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3), 60_000_000_000L);
        assertThat(put().version()).isEqualTo(100);
    }

    @AfterEach
    void close() {
        client.close();
        session.close();
        ports.forEach(ClientPort::close);
    }

    private Request put() {
        final Request put = new Request().put(1, KEY, 0, KEY.length, KEY, 0, KEY.length);
        client.execute(put);
        assertThat(put.status()).isEqualTo(Status.OK);
        return put;
    }

    private CompletableFuture<Request> putFromElsewhere() {
        final CompletableFuture<Request> done = new CompletableFuture<>();
        final Thread thread = new Thread(() -> done.complete(put()));
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private static void awaitThat(java.util.concurrent.Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(60)).until(condition);
    }

    private void awaitHeld() {
        awaitThat(() -> ports.get(0).waited() > 0);
    }

    private long refusals(int port) {
        return Arrays.stream(Operation.values())
                .mapToLong(operation -> ports.get(port).counts().answered(operation, Status.NOT_PRIMARY))
                .sum();
    }

    @Test
    void shouldAnswerWhatHasWaitedByTheNewRoles() throws Exception {
        final long made = session.connectionsMade();
        ports.forEach(ClientPort::pause);
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        final Start next = new Start(1, true);
        ports.get(1).resume(next, new OneCache(), routing(2, 1));
        ports.get(0).resume(new Start(0, false), new OneCache(), routing(2, 1));
        assertThat(waiting.get().version()).isEqualTo(101);
        assertThat(next.begun).isNotEmpty();
        assertThat(client.configuration().term()).isEqualTo(2);
        // At most one more: to the new primary.
        assertThat(session.connectionsMade()).isLessThanOrEqualTo(made + 1);
    }

    @Test
    void shouldMeetAStaleTermOnTheConnectionThatStayed() throws Exception {
        ports.get(0).pause();
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        ports.get(1).pause();
        ports.get(1).resume(new Start(1, true), new OneCache(), routing(2, 1));
        ports.get(0).resume(new Start(0, false), new OneCache(), routing(2, 1));
        assertThat(waiting.get().version()).isEqualTo(101);
        awaitThat(() -> ports.get(0).staleTerms() > 0);
    }

    @Test
    void shouldRepeatWhatWasUnderWayWithTheSameId() throws Exception {
        first.stuck = true;
        final int before = first.begun.size();
        final CompletableFuture<Request> under = putFromElsewhere();
        awaitThat(() -> first.begun.size() > before);
        ports.get(0).pause();
        assertThat(first.abandoned).isTrue();
        final Start again = new Start(0, true);
        ports.get(0).resume(again, new OneCache(), routing(2, 0));
        assertThat(under.get().version()).isEqualTo(100);
        final String last = new ArrayList<>(first.begun).get(before);
        assertThat(again.begun).contains(last);
    }

    @Test
    void shouldTellWhoWaitsTooLongThatAnotherMayServe() throws Exception {
        ports.get(0).pause();
        final long before = ports.get(0).requests();
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        // Refused and retried, since no other server is primary.
        awaitThat(() -> {
            clock.advanceMs(200);
            return ports.get(0).requests() > before;
        });
        assertThat(waiting).isNotDone();
        ports.get(0).resume(new Start(0, true), new OneCache(), routing(2, 0));
        assertThat(waiting.get().version()).isEqualTo(100);
    }

    @Test
    void shouldCloseWhileItIsPaused() {
        ports.get(0).pause();
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        ports.get(0).close();
        assertThat(ports.get(0).connections()).isZero();
        assertThat(waiting).isNotDone();
        ports.get(1).pause();
        ports.get(1).resume(new Start(1, true), new OneCache(), routing(2, 1));
        assertThat(waiting.join().version()).isEqualTo(101);
    }

    @Test
    void shouldHoldARequestForAShardThatIsBeingOpened() throws Exception {
        first.become(false, true);
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        assertThat(waiting).isNotDone();
        first.become(true, false);
        assertThat(waiting.get(30, TimeUnit.SECONDS).version()).isEqualTo(100);
        assertThat(refusals(0)).isZero();
    }

    @Test
    void shouldHoldARequestOfAClientThatKnowsMore() throws Exception {
        ports.get(0).publish(routing(2, 1));
        first.become(false, false);
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitThat(() -> ports.get(1).waited() > 0);
        assertThat(waiting).isNotDone();
        second.become(true, false);
        assertThat(waiting).as("its roles are in force, but not public").isNotDone();
        ports.get(1).publish(routing(2, 1));
        assertThat(waiting.get().version()).isEqualTo(101);
        assertThat(refusals(1)).isZero();
    }

    /** Another server may be opening it by now. */
    @Test
    void shouldRefuseWhatHasWaitedForAnOpeningForLong() throws Exception {
        first.become(false, true);
        final long before = ports.get(0).requests();
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        awaitThat(() -> {
            clock.advanceMs(5);
            return ports.get(0).requests() > before;
        });
        assertThat(waiting).isNotDone();
        first.become(true, false);
        assertThat(waiting.get().version()).isEqualTo(100);
    }

    @Test
    void shouldRefuseWhatIsEarlyWhenTheShardGoesElsewhere() throws Exception {
        first.become(false, true);
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        second.become(true, false);
        ports.get(1).publish(routing(2, 1));
        first.become(false, false);
        assertThat(waiting.get().version()).isEqualTo(101);
    }

    @Test
    void shouldCloseWhileARequestIsEarly() {
        first.become(false, true);
        final CompletableFuture<Request> waiting = putFromElsewhere();
        awaitHeld();
        ports.get(0).close();
        assertThat(ports.get(0).connections()).isZero();
        second.become(true, false);
        ports.get(1).publish(routing(2, 1));
        assertThat(waiting.join().version()).isEqualTo(101);
    }

    /** Its shards may have forgotten by then that it was destroyed. */
    @Test
    void shouldNotTakeACacheForKnownThatTheCatalogueOfTheNewRolesDoesNotHave() {
        ports.get(0).pause();
        ports.get(0)
                .resume(
                        new Start(0, true),
                        new OneCache() {
                            @Override
                            public List<StoredCache> list() {
                                return List.of();
                            }
                        },
                        routing(2, 0));
        final Request put = new Request().put(1, KEY, 0, KEY.length, KEY, 0, KEY.length);
        client.execute(put);
        assertThat(put.status()).isEqualTo(Status.UNKNOWN_CACHE);
    }

    @Test
    void shouldSayWhyTheCatalogueAnswersNothingElse() {
        ports.forEach(port -> {
            port.pause();
            port.resume(
                    new Start(0, true),
                    new OneCache() {
                        @Override
                        public StoredCache find(String name) {
                            throw new ConfigurationStoreException("it is away in this test", null);
                        }
                    },
                    routing(2, 0));
        });
        final NetSettings brief = NetSettings.DEFAULT.withTimes(60_000_000_000L, 1_000_000_000);
        try (NetSession other = NetSession.connect(addresses, brief, SystemClock.INSTANCE)) {
            assertThatThrownBy(() -> other.catalogue().find("a cache"))
                    .isInstanceOf(RowanException.class)
                    .hasMessageContainingAll("it is away in this test", "may have been applied");
        }
    }
}
