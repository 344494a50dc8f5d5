package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** Change requests that no real client sends: unknown cache ids, and as many sections as fit. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ChangeQuestionsTest {
    private static final int BUDGET = 4 << 20;
    /** The cache that the catalogue lists. */
    private static final int CACHE = 1;
    /** A cache created by another server. */
    private static final int CREATED = 2;

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ErrorLog errors = new ErrorLog(clock);
    private final ShardChanges changes = new ShardChanges(8);
    private final List<RawClient> clients = new ArrayList<>();
    private final SlowCatalogue catalogue = new SlowCatalogue();
    private ClientPort port;

    /** Answers on a signal of the test, and may be unreachable then. */
    private static final class SlowCatalogue extends OneCache {
        private final CountDownLatch answering = new CountDownLatch(1);
        private final AtomicInteger asked = new AtomicInteger();
        private volatile boolean slow;
        private volatile boolean away;

        private void awaitAnswer() {
            asked.incrementAndGet();
            try {
                assertThat(!slow || answering.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public StoredCache find(String name) {
            awaitAnswer();
            return new StoredCache(CREATED, name, new byte[0], CacheLimit.NONE);
        }

        @Override
        public List<StoredCache> list() {
            awaitAnswer();
            if (away) {
                throw new ConfigurationStoreException("unreachable, by the test");
            }
            return super.list();
        }
    }

    @BeforeEach
    void open() throws IOException {
        final AnsweringServer server = new AnsweringServer(10) {
            @Override
            public ShardChanges changes(int shard) {
                return changes;
            }

            @Override
            public long lastVersion(int shard) {
                return 5;
            }

            @Override
            public long finishedVersion(int shard) {
                return 5;
            }
        };
        port = ClientPort.bind(
                server,
                catalogue,
                ClientPortSettings.at("127.0.0.1", 0, with -> {
                    with.loops = 1;
                    with.maxHeldBytes = BUDGET;
                }),
                clock,
                errors);
        port.serve(new Routing(
                new Configuration(7, 8, 1, List.of(1L), Collections.nCopies(8, new ShardAssignment(1, 0, new int[0]))),
                List.of("127.0.0.1:" + port.address().getPort())));
    }

    @AfterEach
    void close() throws IOException {
        catalogue.answering.countDown();
        for (RawClient each : clients) {
            each.close();
        }
        port.close();
        assertThat(errors.distinct())
                .filteredOn(each -> !each.type().equals(ConfigurationStoreException.class.getName()))
                .isEmpty();
    }

    private RawClient client() throws Exception {
        final RawClient client = new RawClient(port);
        clients.add(client);
        return client.welcomed();
    }

    private static byte[] question(int waitMs, int... cacheIds) {
        final FrameEncoder out = new FrameEncoder(64);
        final int at = ChangesRequestDescriptor.begin(out, 1L << 16, 1, waitMs, cacheIds.length);
        for (int i = 0; i < cacheIds.length; i++) {
            final long from = waitMs == 0 ? ChangesRequestDescriptor.FROM_NOW : 5;
            ChangesRequestDescriptor.section(out, at, i, from, cacheIds[i], 3, false);
        }
        ChangesRequestDescriptor.end(out, at);
        return RawClient.written(out);
    }

    private static List<Section> heard(RawClient client, int sections) throws Exception {
        while (true) {
            final ByteBuffer frame = client.heardFrame();
            if (FrameHeadDescriptor.type(frame, 0) == ClientFrameDescriptor.CHANGES) {
                ChangesDescriptor.check(frame, 0, frame.capacity(), sections);
                return ChangesDescriptor.read(frame, 0);
            }
        }
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS).until(condition);
    }

    @Test
    void shouldKeepNoChangesOfCachesThatTheCatalogueDidNotGiveOut() throws Exception {
        final RawClient client = client();
        final int[] invented = IntStream.range(1_000, 3_000).toArray();
        client.say(question(0, invented));
        assertThat(heard(client, invented.length).stream().map(Section::status)).containsOnly(Status.UNKNOWN_CACHE);
        assertThat(IntStream.of(invented).filter(id -> changes.requested(id) != ShardChanges.NOT_REQUESTED))
                .isEmpty();

        // Changes of a known cache do not wait for the resolution of an unknown one.
        client.say(question(0, CACHE, 1_000));
        assertThat(heard(client, 2).stream().map(Section::status)).startsWith(Status.OK);
        assertThat(changes.requested(CACHE)).isEqualTo(ShardChanges.REQUESTED);
    }

    @Test
    void shouldCountTheMemoryOfQuestionsThatWait() throws Exception {
        final int[] cacheIds = new int[ChangesRequestDescriptor.MAX_SECTIONS];
        java.util.Arrays.fill(cacheIds, CACHE);
        final byte[] question = question(ChangesRequestDescriptor.MAX_WAIT_MS, cacheIds);
        final RawClient first = client().say(question(0, CACHE)); // resolves its cache
        assertThat(heard(first, 1)).hasSize(1);
        final long before = port.counts().heldBytes();
        final RawClient one = client().say(question);
        awaitThat(() -> port.counts().heldBytes() >= before + 20L * cacheIds.length);

        for (int i = 0; i < 40; i++) {
            final RawClient other = client().say(question);
            final long held = port.counts().heldBytes();
            assertThat(held).isLessThan(BUDGET);
            if (i == 39) {
                // Not kept for long, for lack of memory.
                assertThat(heard(other, cacheIds.length).stream().map(Section::status))
                        .containsExactly(Status.FULL);
            }
        }
        one.close();
        for (RawClient each : clients) {
            each.close();
        }
        awaitThat(() -> port.connections() == 0 && port.counts().heldBytes() == 0);
    }

    private static void sayFind(RawClient client) throws IOException {
        final FrameEncoder out = new FrameEncoder(64);
        CatalogueDescriptor.writeAsked(out, 1, Asked.FIND, new Cache(0, "c", new byte[0], CacheLimit.NONE));
        client.say(RawClient.written(out));
    }

    /** Reachable objects of the port: its change requests and pending catalogue readings. */
    private static long objectsOfThePort() throws JMException {
        final String histogram = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return histogram
                .lines()
                .map(line -> line.trim().split("\\s+"))
                .filter(row -> row.length > 3 && row[3].startsWith(ClientPort.class.getPackageName() + "."))
                .mapToLong(row -> Long.parseLong(row[1]))
                .sum();
    }

    @Test
    void shouldKeepNothingOfQuestionsThatLaterOnesDisplaced() throws Exception {
        catalogue.slow = true;
        final RawClient client = client().say(question(1, 1_000));
        awaitThat(() -> catalogue.asked.get() == 1);
        final long before = objectsOfThePort();
        assertThat(before).isPositive();
        for (int i = 0; i < 500; i++) {
            client.say(question(1, 1_000 + i));
            assertThat(heard(client, 1)).isEmpty(); // answer to the previous request
        }
        assertThat(objectsOfThePort()).isLessThan(before + 100);

        catalogue.answering.countDown();
        assertThat(heard(client, 1)).extracting(Section::status).containsExactly(Status.UNKNOWN_CACHE);
        // One reading for the first request, and one for all requests that arrived during it.
        assertThat(catalogue.asked).hasValue(2);
        client.close();
        awaitThat(() -> port.connections() == 0 && port.counts().heldBytes() == 0);
    }

    /** The driver ends a stream whose cache does not exist. */
    @Test
    void shouldCallNoCacheUnknownThatAnUnreadCatalogueMayHave() throws Exception {
        catalogue.slow = true;
        final RawClient other = client();
        sayFind(other);
        awaitThat(() -> catalogue.asked.get() == 1);
        final RawClient client = client().say(question(0, CREATED, 1_000));
        awaitThat(() -> port.counts().heldBytes() > 0);
        catalogue.away = true;
        // completes the reading that finds the cache; later the catalogue is unreachable
        catalogue.answering.countDown();
        assertThat(heard(client, 2)).extracting(Section::status).containsExactly(Status.OK, Status.UNREACHABLE);

        catalogue.away = false;
        client.say(question(0, 1_000));
        assertThat(heard(client, 1)).extracting(Section::status).containsExactly(Status.UNKNOWN_CACHE);
    }
}
