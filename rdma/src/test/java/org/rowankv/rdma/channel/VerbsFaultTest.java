package org.rowankv.rdma.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.verbs.ConnectionEventHandler;
import org.rowankv.rdma.verbs.ModelNetwork;
import org.rowankv.rdma.verbs.ModelVerbs;
import org.rowankv.rdma.verbs.RegisteredMemory;
import org.rowankv.rdma.verbs.VerbsConnection;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.rdma.verbs.WorkHandler;
import org.rowankv.runtime.SystemClock;

/** What fails on an RDMA device, fails as the contract of a fabric says. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class VerbsFaultTest {
    private static final int SEGMENT = 4096;
    private static final int TAG = 5;

    private final ModelRdma model = new ModelRdma(6);
    private final Entries entries = new Entries();

    private void post(QueuePair pair, long id, int length) {
        int status = pair.send(id, entries.make(id, length), 0, length, TAG);
        while (status == PostStatus.RECEIVER_NOT_READY) {
            Thread.onSpinWait();
            status = pair.send(id, entries.make(id, length), 0, length, TAG);
        }
        assertThat(status).isEqualTo(PostStatus.POSTED);
    }

    private static TreeMap<Long, Integer> awaitAll(QueuePair pair, int count) {
        final TreeMap<Long, Integer> statuses = new TreeMap<>();
        while (statuses.size() < count) {
            pair.poll(statuses::put, 100);
            Thread.onSpinWait();
        }
        return statuses;
    }

    /** A prefix lands, and what was acknowledged is in it; the rest is unknown, and a new queue pair works. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3, 5, 8, 13})
    void shouldNotKnowWhatLandedWhenAQueuePairBreaks(long after) {
        try (LandingFabric fabric = model.fabric(with -> with.retryMs = 0)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 300);
            awaitAll(pair, 1);
            model.network().breakAfter(after);
            for (long id = 2; id <= 20; id++) {
                post(pair, id, 300);
            }
            final TreeMap<Long, Integer> statuses = awaitAll(pair, 19);
            assertThat(statuses.values())
                    .allMatch(each -> each == CompletionStatus.LANDED || each == CompletionStatus.UNKNOWN);
            pair.close();
            final QueuePair next = connect(sender, receiver);
            post(next, 100, 300);
            assertThat(awaitAll(next, 1)).containsEntry(100L, CompletionStatus.LANDED);
            final List<Long> landed =
                    receiver.landed(TAG).stream().map(Landed::id).toList();
            assertThat(landed).startsWith(1L).endsWith(100L).isSorted().doesNotHaveDuplicates();
            final List<Long> acknowledged = new ArrayList<>();
            statuses.forEach((id, status) -> {
                if (status == CompletionStatus.LANDED) {
                    acknowledged.add(id);
                }
            });
            assertThat(landed).containsAll(acknowledged);
            for (int i = 0; i < landed.size() - 1; i++) {
                assertThat(landed.get(i)).as("no gap").isEqualTo(i + 1);
            }
            next.close();
        }
        model.check();
    }

    private static QueuePair connect(TestServer sender, TestServer receiver) {
        while (true) {
            try {
                return sender.connectTo(receiver);
            } catch (FabricException e) {
                assertThat(e.reason()).isEqualTo(FabricException.Reason.UNKNOWN_PEER);
            }
        }
    }

    @Test
    void shouldSayThatMemoryCannotBeRegistered() {
        try (LandingFabric fabric = model.fabric(with -> with.retryMs = 0)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            model.network().refuseMemory("raise the limit of locked memory");
            assertThatThrownBy(() -> sender.connectTo(receiver))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("raise the limit of locked memory");
        }
        model.check();
    }

    @Test
    void shouldOpenNoMoreConnectionsThanItsCompletionQueueHasPlaceFor() {
        final VerbsSettings two = new VerbsSettings(8, 512, 2, 1000); // both ends of one connection
        try (LandingFabric fabric = model.fabric(with -> with.retryMs = 0, two)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            assertThatThrownBy(() -> sender.connectTo(receiver))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("2 RDMA connections are open");
            post(pair, 1, 300);
            assertThat(awaitAll(pair, 1)).containsEntry(1L, CompletionStatus.LANDED);
            pair.close();
            final QueuePair next = connect(sender, receiver);
            post(next, 2, 300);
            assertThat(awaitAll(next, 1)).containsEntry(2L, CompletionStatus.LANDED);
        }
        model.check();
    }

    @Test
    void shouldEndAllConnectionsAndOpenNoMoreOnceItsDeviceFailed() {
        final ModelVerbs device = new ModelVerbs(model.network());
        final VerbsTransport transport = new VerbsTransport(device, ModelRdma.SMALL, SystemClock.INSTANCE);
        try (LandingFabric fabric = Loopback.fabric(with -> with.connectTimeoutMs = 15_000, transport)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 300);
            awaitAll(pair, 1);
            device.fail();
            while (!pair.isFenced()) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> sender.connectTo(receiver))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("device of this server failed");
        }
        model.check();
    }

    @Test
    void shouldReportThatNoServerListensThere() {
        final ModelNetwork network = model.network();
        final LandingFabricSettings settings = LandingFabricSettings.of(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                server -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 9),
                with -> with.connectTimeoutMs = 60_000);
        try (LandingFabric fabric = new LandingFabric(
                settings, new VerbsTransport(new ModelVerbs(network), ModelRdma.SMALL, SystemClock.INSTANCE))) {
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            assertThatThrownBy(() -> sender.endpoint().connect(1, 1, 1))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("no server listens there");
        }
        model.check();
    }

    @Test
    void shouldNameTheAddressAtWhichItCannotListen() {
        final InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 77);
        final LandingFabricSettings settings = LandingFabricSettings.of(address, server -> null);
        final VerbsTransport first =
                new VerbsTransport(new ModelVerbs(model.network()), ModelRdma.SMALL, SystemClock.INSTANCE);
        try (LandingFabric fabric = new LandingFabric(settings, first)) {
            final VerbsTransport second =
                    new VerbsTransport(new ModelVerbs(model.network()), ModelRdma.SMALL, SystemClock.INSTANCE);
            assertThatThrownBy(() -> new LandingFabric(settings, second))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("77")
                    .hasMessageContaining("is in use");
            assertThat(fabric.listenAddress().getPort()).isEqualTo(77);
        }
    }

    /** A peer whose SENDs are no part of a stream, or report slots that it does not have, is disconnected. */
    @ParameterizedTest
    @ValueSource(strings = {"", "short", "no header of ours, and long enough", "LIES", "OTHER MAGIC"})
    void shouldDisconnectAPeerWhoseSendsHaveNoHeader(String sent) throws VerbsException {
        try (LandingFabric fabric = model.fabric(with -> with.connectTimeoutMs = 3_600_000)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            receiver.postAll();
            final ByteBuffer bytes = ByteBuffer.allocateDirect(64).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            int length = Math.max(1, sent.length());
            if (sent.equals("OTHER MAGIC")) {
                SlotDescriptor.header(bytes, 0, 0);
                bytes.putInt(SlotDescriptor.MAGIC_OFFSET, SlotDescriptor.MAGIC + 1);
            } else if (sent.equals("LIES")) {
                SlotDescriptor.header(bytes, 0, 3);
                length = SlotDescriptor.HEADER_LENGTH + 1;
            } else {
                for (int i = 0; i < sent.length(); i++) {
                    bytes.put(i, (byte) sent.charAt(i));
                }
            }
            try (Stranger stranger = new Stranger(new ModelVerbs(model.network()))) {
                stranger.sendAndAwaitTheEnd(fabric.listenAddress(), bytes, length);
            }
            // Others are served.
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 300);
            assertThat(awaitAll(pair, 1)).containsEntry(1L, CompletionStatus.LANDED);
        }
        model.check();
    }

    /** A caller on a device of its own that sends what it likes. */
    private static final class Stranger implements ConnectionEventHandler, WorkHandler, AutoCloseable {
        private final ModelVerbs device;
        private boolean established;
        private boolean ended;

        Stranger(ModelVerbs device) {
            this.device = device;
        }

        void sendAndAwaitTheEnd(InetSocketAddress to, ByteBuffer bytes, int length) throws VerbsException {
            final RegisteredMemory memory = device.register(bytes);
            final VerbsConnection connection = device.connect(to, 60_000);
            while (!established) {
                device.pollEvents(this);
            }
            connection.prepareSend(memory, 0, 1).post(length);
            while (!ended) {
                device.pollWork(this);
                device.pollEvents(this);
            }
        }

        @Override
        public void onWork(long id, int status, int length) {
            // It waits for the end.
        }

        @Override
        public void onRequest(VerbsConnection connection) {
            connection.destroy();
        }

        @Override
        public void onResolved(VerbsConnection connection) {
            try {
                connection.createQueuePair(4, 4);
                connection.open();
            } catch (VerbsException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void onEstablished(VerbsConnection connection) {
            established = true;
        }

        @Override
        public void onFailed(VerbsConnection connection, String why) {
            throw new AssertionError(why);
        }

        @Override
        public void onDisconnected(VerbsConnection connection) {
            ended = true;
        }

        @Override
        public void close() {
            device.close();
        }
    }
}
