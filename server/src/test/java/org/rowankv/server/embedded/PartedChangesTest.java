package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPortSettings;

/** Subscribers receive whole values, or the report that a value is gone. */
@Timeout(120)
final class PartedChangesTest {
    private static final int BIG = 1_000_000;

    private final LeapClock clock = new LeapClock();
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;
    private NetSession session;
    private RowanClient client;
    private int cache;

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                    with.shards = 2;
                    with.workers = 3;
                    with.capacityBytes = 32 << 20;
                    with.segmentBytes = 64 << 10;
                }),
                clock,
                new SplittableRandomSource(17));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
        session = NetSession.connect(ports.addresses(), NetSettings.DEFAULT, SystemClock.INSTANCE);
        client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3));
        cache = Stores.cache(client);
    }

    @AfterEach
    void close() {
        client.close();
        session.close();
        ports.close();
        assertThat(cluster.errors().distinct()).isEmpty();
        cluster.close();
    }

    @Test
    void shouldDeliverWholeValuesAndNoParts() {
        final HeardChanges heard = new HeardChanges();
        try (ChangeSubscription subscription = client.subscribe(cache, true, null, heard)) {
            client.put(cache, bytes("k"), value("k", 1, BIG));
            client.put(cache, bytes("k"), value("k", 2, BIG));
            client.put(cache, bytes("k"), value("k", 3, 10));
            client.remove(cache, bytes("k"));
            heard.awaitCount(4);
            assertThat(heard.of("k"))
                    .extracting(Change::type)
                    .containsExactly(ChangeType.CREATED, ChangeType.UPDATED, ChangeType.UPDATED, ChangeType.REMOVED);
            assertThat(heard.of("k").subList(0, 3))
                    .extracting(change -> numberOf("k", change.value()))
                    .containsExactly(1L, 2L, 3L);
            assertThat(heard.of("k").get(1).oldValue()).as("in parts").isNull();
            assertThat(heard.of("k").get(2).oldValue()).as("in parts").isNull();
            assertThat(numberOf("k", heard.of("k").get(3).oldValue())).isEqualTo(3);
            assertThat(heard.count()).isEqualTo(4);
            assertThat(heard.losses()).isZero();
            assertThat(subscription.position()).isNotNull();
        }
    }

    /** Calls another listener when it is allowed to. */
    private static final class Held implements ChangeListener {
        private final HeardChanges heard = new HeardChanges();
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        @Override
        public void onChange(int shard, Change change) {
            reached.countDown();
            try {
                assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            heard.onChange(shard, change);
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            heard.onEventsLost(shard, after, upTo);
        }
    }

    private long parts() {
        long parts = 0;
        for (int shard = 0; shard < 2; shard++) {
            parts += cluster.servers()
                    .get(cluster.configuration().shard(shard).primary())
                    .replicas()
                    .get(shard)
                    .counts()
                    .parts();
        }
        return parts;
    }

    @Test
    void shouldReportTheLossOfAValueThatIsGone() throws InterruptedException {
        final Held slow = new Held();
        try (ChangeSubscription subscription = client.subscribe(cache, false, null, slow)) {
            client.put(cache, bytes("k"), value("k", 1, 10));
            assertThat(slow.reached.await(60, TimeUnit.SECONDS)).isTrue();
            client.put(cache, bytes("k"), value("k", 2, BIG));
            client.put(cache, bytes("k"), value("k", 3, 10));
            clock.leap(Duration.ofSeconds(10).toNanos());
            await().atMost(Duration.ofSeconds(30)).until(() -> parts() == 0);
            slow.released.countDown();
            slow.heard.awaitCount(2);
            slow.heard.awaitLoss();
            assertThat(slow.heard.of("k"))
                    .extracting(change -> numberOf("k", change.value()))
                    .containsExactly(1L, 3L);
            assertThat(slow.heard.losses()).isOne();
            assertThat(subscription.position()).isNotNull();
        }
    }
}
