package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor;
import org.rowankv.protocol.wire.CatalogueDescriptor.Answer;
import org.rowankv.protocol.wire.CatalogueDescriptor.Asked;
import org.rowankv.protocol.wire.CatalogueDescriptor.Cache;
import org.rowankv.protocol.wire.ClientFrameDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.catalogue.StoredCache;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;
import org.rowankv.topology.ShardAssignment;

/** Memory limits of pending catalogue requests, while the catalogue does not answer. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ClientPortCatalogueTest {
    private static final int BUDGET = 8 << 20;

    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private final ErrorLog errors = new ErrorLog(clock);
    private final List<RawClient> clients = new ArrayList<>();
    private final CountDownLatch stuck = new CountDownLatch(1);
    private ClientPort port;

    private void open() throws IOException {
        final OneCache catalogue = new OneCache() {
            @Override
            public StoredCache create(String name, byte[] descriptor) {
                try {
                    assertThat(stuck.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return new StoredCache(1, name, new byte[0], CacheLimit.NONE);
            }
        };
        port = ClientPort.bind(
                new AnsweringServer(10),
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
        stuck.countDown();
        for (RawClient each : clients) {
            each.close();
        }
        port.close();
        assertThat(errors.distinct()).isEmpty();
    }

    private RawClient client() throws Exception {
        final RawClient client = new RawClient(port);
        clients.add(client);
        return client.welcomed();
    }

    private static byte[] create(int number, int descriptorLength) {
        final FrameEncoder out = new FrameEncoder(64);
        CatalogueDescriptor.writeAsked(
                out, number, Asked.CREATE, new Cache(0, "c", new byte[descriptorLength], CacheLimit.NONE));
        return RawClient.written(out);
    }

    private static Status heard(RawClient client) throws Exception {
        while (true) {
            final java.nio.ByteBuffer frame = client.heardFrame();
            if (FrameHeadDescriptor.type(frame, 0) == ClientFrameDescriptor.CATALOGUE_ANSWER) {
                final Answer answer = CatalogueDescriptor.readAnswer(frame, 0, frame.capacity());
                return answer.status();
            }
        }
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(30, TimeUnit.SECONDS).until(condition);
    }

    @Test
    void shouldLeaveOthersAShareOfTheCatalogue() throws Exception {
        open();
        final int each = 1_000;
        final List<RawClient> greedy = List.of(client(), client());
        for (RawClient client : greedy) {
            for (int i = 1; i <= each; i++) {
                client.say(create(i, 10));
            }
        }
        awaitThat(() -> port.counts().catalogueRequests() == greedy.size() * each);
        final RawClient other = client().say(create(1, 10));
        awaitThat(() -> port.counts().catalogueRequests() == greedy.size() * each + 1);
        stuck.countDown();
        assertThat(heard(other)).isEqualTo(Status.OK);
        int refused = 0;
        for (RawClient client : greedy) {
            for (int i = 1; i <= each; i++) {
                refused += heard(client) == Status.FULL ? 1 : 0;
            }
        }
        assertThat(refused).isBetween(greedy.size() * each - 100, greedy.size() * each - 2);
    }

    @Test
    void shouldChargeWhatWaitsForTheCatalogue() throws Exception {
        open();
        final long before = port.counts().heldBytes();
        final RawClient one = client().say(create(1, 500_000));
        awaitThat(() -> port.counts().heldBytes() >= before + 500_000);
        final List<RawClient> others = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            others.add(client().say(create(1, 500_000)));
        }
        awaitThat(() -> port.counts().catalogueRequests() == 41);
        assertThat(port.counts().heldBytes()).isLessThan(BUDGET);
        stuck.countDown();
        assertThat(heard(one)).isEqualTo(Status.OK);
        int refused = 0;
        for (RawClient each : others) {
            refused += heard(each) == Status.FULL ? 1 : 0;
        }
        assertThat(refused).isPositive();
        for (RawClient each : clients) {
            each.close();
        }
        awaitThat(() -> port.connections() == 0 && port.counts().heldBytes() == 0);
    }
}
