package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** A primary that may not answer alone for a while, as its clients see it: the routing stays the same. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class RefusedReadsTest {
    private static final byte[] KEY = {1, 2, 3};
    private static final int CACHE = 1;
    private static final int REFUSALS = 30;

    /** Answers NOT_PRIMARY as often as the test says. */
    private final class Primary extends AnsweringServer {
        private final AtomicInteger refusals = new AtomicInteger();
        private volatile boolean isLostWhileScanning;
        private int arrived;
        private final Queue<Integer> arrivedBefore = new ConcurrentLinkedQueue<>();

        Primary() {
            super(8);
        }

        @Override
        public PollableCalls calls(int loop, int loops) {
            final PollableCalls answering = super.calls(loop, loops);
            return new PollableCalls() {
                @Override
                public PollableCall callOf(Request request) {
                    return refusing(request, answering.callOf(request));
                }

                @Override
                public void arrived() {
                    arrived++;
                }
            };
        }

        private PollableCall refusing(Request request, PollableCall answering) {
            return new PollableCall() {
                @Override
                public void again() {
                    answering.again();
                }

                @Override
                public boolean step() {
                    arrivedBefore.add(arrived);
                    if (refusals.get() == 0) {
                        return answering.step();
                    }
                    refusals.decrementAndGet();
                    request.noResult();
                    request.answer(Status.NOT_PRIMARY, 0, 0, 0);
                    return true;
                }

                @Override
                public boolean awaitsWorker() {
                    return false;
                }
            };
        }

        @Override
        public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
            visitor.onObject(KEY, new byte[8], 1);
            return isLostWhileScanning
                    ? backup.scan(cacheId, shard, position, withValues, (key, value, version, expiryMs) -> {})
                    : 0;
        }
    }

    private final EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
        with.servers = 2;
        with.replicas = 2;
        with.shards = 2;
    }));
    /** Not the primary of the shard. */
    private final Server backup =
            cluster.servers().get(1 - cluster.configuration().shard(0).primary());

    private final Primary primary = new Primary();
    private ClientPort port;
    private NetSession session;
    private RowanClient client;

    @BeforeEach
    void open() throws IOException {
        port = ClientPort.bind(
                primary,
                new OneCache(),
                ClientPortSettings.at("127.0.0.1", 0),
                SystemClock.INSTANCE,
                new ErrorLog(SystemClock.INSTANCE));
        final List<String> addresses = List.of("127.0.0.1:" + port.address().getPort());
        port.serve(new Routing(
                new Configuration(7, 8, 1, List.of(1L), List.of(new ShardAssignment(1, 0, new int[0]))), addresses));
        session = NetSession.connect(
                addresses,
                NetSettings.DEFAULT.withConnections(1, 64).withTimes(60_000_000_000L, 60_000_000_000L),
                SystemClock.INSTANCE);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3), 60_000_000_000L);
    }

    @AfterEach
    void close() {
        client.close();
        session.close();
        port.close();
        cluster.close();
    }

    @Test
    void shouldRepeatAReadUntilTheServerMayAnswerAgain() {
        primary.refusals.set(REFUSALS);
        assertThat(client.get(CACHE, KEY)).hasSize(8);
        assertThat(primary.refusals).hasValue(0);
        assertThat(session.configuration().term()).isOne();
    }

    @Test
    void shouldRepeatAMutationUntilTheServerMayAnswerAgain() {
        primary.refusals.set(REFUSALS);
        assertThat(client.putIfAbsent(CACHE, KEY, new byte[8]).applied()).isTrue();
        assertThat(primary.refusals).hasValue(0);
    }

    @Test
    void shouldAnswerAScanOfARoleThatLeavesWithNothingOfIt() {
        assertThat(session.scan(CACHE, 0, 0, 10, true).entries()).hasSize(1);
        primary.isLostWhileScanning = true;
        assertThatThrownBy(() -> session.scan(CACHE, 0, 0, 10, true))
                .isInstanceOfSatisfying(
                        RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_PRIMARY));
        assertThat(session.reconnects()).as("an answer, no failure").isZero();
        primary.isLostWhileScanning = false;
        assertThat(session.scan(CACHE, 0, 0, 10, true).entries()).hasSize(1);
    }

    @Test
    void shouldGoOnWithAScanWhenTheServerMayAnswerAgain() {
        primary.isLostWhileScanning = true;
        final CompletableFuture<Integer> scanned = CompletableFuture.supplyAsync(() -> {
            final List<byte[]> keys = new ArrayList<>();
            client.scan(CACHE, true).forEachRemaining(entry -> keys.add(entry.key()));
            return keys.size();
        });
        await().atMost(Duration.ofSeconds(60)).until(() -> port.counts().pages() > 5);
        assertThat(scanned).isNotDone();
        primary.isLostWhileScanning = false;
        assertThat(scanned.join()).isOne();
    }

    /** Between the bytes and the requests in them: what the server may have asked before is older than these. */
    @Test
    void shouldSayThatRequestsHaveArrivedBeforeItBeginsThem() {
        for (int i = 0; i < 5; i++) {
            assertThat(client.get(CACHE, KEY)).hasSize(8);
        }
        assertThat(primary.arrivedBefore).hasSizeGreaterThanOrEqualTo(5).doesNotHaveDuplicates();
    }
}
