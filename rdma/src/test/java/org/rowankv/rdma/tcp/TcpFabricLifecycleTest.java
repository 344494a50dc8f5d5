package org.rowankv.rdma.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.SingleThreadIoEventLoop;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.LandingForce;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.landing.Descriptors;
import org.rowankv.rdma.landing.LandingEndpoint;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.Loopback;
import org.rowankv.rdma.rowan.FrameDescriptor;

/** Opening, closing, forcing, and the threads that do the work. */
@Tag("jvm")
final class TcpFabricLifecycleTest {
    private static final int SEGMENT = 4096;

    private static List<Integer> awaitStatuses(QueuePair pair, int count) {
        final List<Integer> statuses = new ArrayList<>();
        while (statuses.size() < count) {
            pair.poll((context, status) -> statuses.add(status), 10);
            Thread.onSpinWait();
        }
        return statuses;
    }

    private static void post(QueuePair pair, long id, int length) {
        int status;
        do {
            status = pair.send(id, new Entries().make(id, length), 0, length, 0);
        } while (status == PostStatus.RECEIVER_NOT_READY);
        assertThat(status).isEqualTo(PostStatus.POSTED);
    }

    private static List<String> nicThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rowan-nic"))
                .toList();
    }

    private static void openUseAndClose(boolean nativeTransport) {
        try (LandingFabric fabric = Loopback.fabric(usual -> {}, TcpTransport.choose(nativeTransport))) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            for (int i = 0; i < 5; i++) {
                final QueuePair pair = sender.connectTo(receiver);
                post(pair, i, 100);
                awaitStatuses(pair, 1);
            }
            sender.endpoint().message(1, ByteBuffer.allocate(10));
            while (receiver.endpoint().pollMessages(1) == 0) {
                Thread.onSpinWait();
            }
            assertThat(nicThreads()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldLeaveNoThreadAndNoDescriptorBehind(boolean nativeTransport) {
        openUseAndClose(nativeTransport);
        final long before = Descriptors.open();
        for (int i = 0; i < 10; i++) {
            openUseAndClose(nativeTransport);
        }
        assertThat(nicThreads()).isEmpty();
        assertThat(Descriptors.open()).isLessThanOrEqualTo(before);
    }

    @Test
    void shouldNameTheAddressThatIsInUse() {
        try (LandingFabric fabric = Loopback.fabric()) {
            assertThatThrownBy(
                            () -> TcpTransport.open(LandingFabricSettings.of(fabric.listenAddress(), server -> null)))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("cannot listen for servers at")
                    .hasMessageContaining(String.valueOf(fabric.listenAddress().getPort()));
            assertThat(nicThreads()).hasSize(1);
        }
    }

    @Test
    void shouldReachAServerOfAnotherFabric() {
        final AtomicReference<java.net.InetSocketAddress> there = new AtomicReference<>(Loopback.ANY_PORT);
        try (LandingFabric one = TcpTransport.open(Loopback.settings(there));
                LandingFabric two = TcpTransport.open(Loopback.settings(there))) {
            there.set(two.listenAddress());
            final TestServer receiver = TestServer.open(two, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(one, 2, 1, SEGMENT);
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 100);
            assertThat(awaitStatuses(pair, 1)).containsExactly(CompletionStatus.LANDED);
            receiver.close();
            while (!pair.isFenced()) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldDoItsWorkOnTheOwnersEventLoop() {
        try (LandingFabric fabric = Loopback.fabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.postAll();
            final AtomicInteger notified = new AtomicInteger();
            final SingleThreadIoEventLoop loop = new SingleThreadIoEventLoop(
                    null,
                    (java.util.concurrent.ThreadFactory) task -> new Thread(task, "owner"),
                    fabric.transport().handlers());
            final List<String> threads = new ArrayList<>();
            final QueuePair pair = ((LandingEndpoint) sender.endpoint())
                    .connect(1, 1, 1, loop, () -> {
                        synchronized (threads) {
                            threads.add(Thread.currentThread().getName());
                        }
                        notified.incrementAndGet();
                    })
                    .join();
            post(pair, 1, 100);
            pair.poll((context, status) -> {}, 0);
            while (notified.get() == 0) {
                Thread.onSpinWait();
            }
            synchronized (threads) {
                assertThat(threads).containsOnly("owner");
            }
            assertThat(awaitStatuses(pair, 1)).containsExactly(CompletionStatus.LANDED);
            pair.close();
            loop.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    /** Reports forces as complete on demand. */
    private static final class HeldForce implements LandingForce {
        private final AtomicLong flushed = new AtomicLong();
        private final AtomicLong requested = new AtomicLong();
        private final AtomicLong forced = new AtomicLong();

        @Override
        public void flush(long address, long length) {
            flushed.addAndGet(length);
        }

        @Override
        public long request() {
            return requested.incrementAndGet();
        }

        @Override
        public boolean isForced(long ticket) {
            return ticket <= forced.get();
        }

        void awaitRequest(long ticket) {
            while (requested.get() < ticket) {
                Thread.onSpinWait();
            }
        }
    }

    private static LandingFabric forcingFabric() {
        return Loopback.fabric(with -> with.ackLevel = AckLevel.FORCED);
    }

    @Test
    void shouldAcknowledgeOnlyWhatHasBeenForced() {
        final HeldForce force = new HeldForce();
        try (LandingFabric fabric = forcingFabric()) {
            assertThat(fabric.capabilities().ackLevel()).isEqualTo(AckLevel.FORCED);
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT, force);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT, new HeldForce());
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 100);
            pair.poll((context, status) -> {}, 0);
            force.awaitRequest(1);
            post(pair, 2, 200);
            while (receiver.queue().landedLimit(0) < 128 + 256) {
                assertThat(pair.poll((context, status) -> {}, 10)).isZero();
            }
            force.forced.set(1);
            assertThat(awaitStatuses(pair, 1)).containsExactly(CompletionStatus.LANDED);
            force.awaitRequest(2);
            assertThat(pair.poll((context, status) -> {}, 10)).isZero();
            force.forced.set(2);
            assertThat(awaitStatuses(pair, 1)).containsExactly(CompletionStatus.LANDED);
            assertThat(force.flushed).hasValue(128 + 256);
        }
    }

    @Test
    void shouldNeverAcknowledgeWhatTheDeviceRefused() {
        final HeldForce force = new HeldForce();
        try (LandingFabric fabric = forcingFabric()) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT, force);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT, new HeldForce());
            receiver.postAll();
            final QueuePair pair = sender.connectTo(receiver);
            post(pair, 1, 100);
            pair.poll((context, status) -> {}, 0);
            force.awaitRequest(1);
            receiver.close();
            assertThat(awaitStatuses(pair, 1)).containsExactly(CompletionStatus.UNKNOWN);
        }
    }

    @Test
    void shouldRefuseAnEndpointThatCannotForce() {
        try (LandingFabric fabric = forcingFabric()) {
            assertThatThrownBy(() -> TestServer.open(fabric, 1, 8, SEGMENT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("FORCED");
        }
    }

    @Test
    void shouldKeepTheLastSegmentForUsersOfTheReserve() {
        try (LandingFabric fabric = Loopback.fabric(with -> with.keepsReserve = true)) {
            final TestServer receiver = TestServer.open(fabric, 1, 8, SEGMENT);
            final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);
            receiver.post(0);
            final QueuePair plain = sender.connectTo(receiver);
            final QueuePair using = sender.connectTo(receiver);
            using.useReserve();
            assertThat(plain.send(1, new Entries().make(1, 100), 0, 100, 0)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
            post(using, 2, 100);
            assertThat(awaitStatuses(using, 1)).containsExactly(CompletionStatus.LANDED);
            assertThat(plain.send(1, new Entries().make(1, 100), 0, 100, 0)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
            receiver.post(1);
            post(plain, 1, 100);
            assertThat(awaitStatuses(plain, 1)).containsExactly(CompletionStatus.LANDED);
            assertThat(receiver.queue().landedLimit(0)).isEqualTo(4 * FrameDescriptor.STRIDE);
        }
    }
}
