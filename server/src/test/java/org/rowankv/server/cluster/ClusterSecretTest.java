package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CreditSource;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.MembershipView;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.Registrations;
import org.rowankv.server.membership.ServerRegistration;
import org.rowankv.server.peer.PeerMessageDescriptor;
import org.rowankv.server.peer.PeerRequestType;
import org.rowankv.topology.Configuration;

/** A cluster with attackers, at its servers' ports and in its configuration store. */
class ClusterSecretTest {
    @TempDir
    Path dir;

    /** A process that impersonates a server of the cluster, without its secret. */
    private static final class Liar implements AutoCloseable {
        private final LandingFabric fabric;
        private final Endpoint endpoint;
        private final Configuration known;
        private final AtomicInteger tries = new AtomicInteger();
        private final AtomicInteger wins = new AtomicInteger();
        private final AtomicBoolean over = new AtomicBoolean();
        private final Thread thread = new Thread(this::run, "liar");

        /** It claims to be server 1 after its next start, and calls server 0 after its next one, in the next term. */
        Liar(ClusterBed.Member called, Configuration known) {
            this.known = known;
            this.fabric = TcpTransport.open(LandingFabricSettings.of(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    server -> called.listenAddress(),
                    with -> with.retryMs = 0));
            this.endpoint = fabric.open(new EndpointSettings(
                    1,
                    known.incarnations().get(1) + 1,
                    known.clusterId(),
                    MemoryRegion.of(ByteBuffer.allocateDirect(8192)),
                    4096,
                    0,
                    1,
                    new NoCredit(),
                    (from, incarnation, message) -> {},
                    new Believing(known.term() + 1),
                    null));
            thread.start();
        }

        private void run() {
            while (!over.get()) {
                final CompletableFuture<QueuePair> opening =
                        endpoint.connectAsync(0, known.incarnations().get(0) + 1, known.term() + 1);
                final int unused = endpoint.message(
                        0,
                        PeerMessageDescriptor.write(
                                PeerRequestType.READY,
                                false,
                                0,
                                known.term() + 1,
                                tries.get(),
                                0,
                                ByteBuffer.allocate(0)));
                try {
                    opening.join();
                    wins.incrementAndGet();
                } catch (CompletionException e) {
                    tries.incrementAndGet();
                }
            }
        }

        @Override
        public void close() {
            over.set(true);
            await().until(() -> !thread.isAlive());
            fabric.close();
        }
    }

    private record Believing(long term) implements MembershipView {
        @Override
        public long startTerm() {
            return term;
        }

        @Override
        public boolean admits(int serverId, long incarnation, long ofTerm) {
            return true;
        }
    }

    private static final class NoCredit implements CreditSource {
        @Override
        public long acquire(long requested) {
            return 0;
        }

        @Override
        public void release(long bytes) {}
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStartWhileALiarIsFirstWithEveryIncarnationAndTerm(boolean withSecret) {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)) {
            if (!withSecret) {
                bed.withoutSecret();
            }
            bed.startAll();
            final Configuration before = bed.configuration();
            try (Liar liar = new Liar(bed.members.get(0), before)) {
                await().until(() -> liar.tries.get() > 10);
                bed.members.get(1).stop();
                bed.members.get(1).start();
                await().atMost(Duration.ofSeconds(60)).until(() -> bed.term() > before.term());
                bed.awaitServing();
                assertThat(liar.wins).hasValue(0);
            }
        }
    }

    private static void overwrite(ConfigurationStore store, String path, byte[] bytes) {
        final VersionedNode node = store.read(path);
        assertThat(store.compareAndSet(path, node.version(), bytes, new Stamp("liar", 1)))
                .isTrue();
    }

    @Test
    void shouldServeOnWhenARegistrationIsForgedAndStartAgainBesideIt() {
        final AtomicInteger looks = new AtomicInteger();
        final ConfigurationStore store = (ConfigurationStore) java.lang.reflect.Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ConfigurationStore.class}, new Counting(looks));
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20, store).startAll()) {
            final long term = bed.configuration().term();
            final ServerRegistration genuine =
                    ServerRegistration.decode("b", store.read("/servers/b").bytes());
            overwrite(
                    store,
                    "/servers/b",
                    new ServerRegistration(
                                    "b",
                                    genuine.identity(),
                                    new HostAndPort("192.0.2.1", 9),
                                    genuine.clients(),
                                    genuine.admin(),
                                    genuine.zone(),
                                    genuine.shape(),
                                    genuine.incarnation() + 1,
                                    3)
                            .encode());
            final int before = looks.get();
            // Without a notification of the store a server polls every three seconds.
            await().atMost(Duration.ofSeconds(60)).until(() -> looks.get() > before + 3);
            assertThat(bed.configuration().term()).isEqualTo(term);
            bed.members.forEach(member -> assertThat(member.server.phase()).isEqualTo(StartPhase.SERVING));
            bed.members.get(1).stop();
            bed.members.get(1).start();
            await().atMost(Duration.ofSeconds(60)).until(() -> bed.term() > term);
            bed.awaitServing();
        }
    }

    private static final class Counting implements java.lang.reflect.InvocationHandler {
        private final MemoryConfigurationStore store = new MemoryConfigurationStore();
        private final AtomicInteger looks;

        Counting(AtomicInteger looks) {
            this.looks = looks;
        }

        @Override
        public Object invoke(Object proxy, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("read") && arguments[0].equals("/servers/b")) {
                looks.incrementAndGet();
            }
            try {
                return method.invoke(store, arguments);
            } catch (java.lang.reflect.InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    @Test
    void shouldRefuseToBeTheSameStartAsAnotherProcess() {
        final ConfigurationStore store = new MemoryConfigurationStore();
        try (ClusterBed bed = new ClusterBed(dir, 1, 1, 8 << 20, store).startAll()) {
            final ServerRegistration genuine =
                    ServerRegistration.decode("a", store.read("/servers/a").bytes());
            bed.members.get(0).stop();
            // Like an earlier process on a copy of the directory.
            overwrite(
                    store,
                    "/servers/a",
                    new Registrations("test", ClusterBed.SECRET)
                            .signed(
                                    "/servers/a",
                                    new ServerRegistration(
                                                    "a",
                                                    genuine.identity(),
                                                    new HostAndPort("192.0.2.1", 9),
                                                    "",
                                                    "",
                                                    "",
                                                    genuine.shape(),
                                                    genuine.incarnation() + 1,
                                                    3)
                                            .encode()));
            final ClusterServer second = bed.members.get(0).start();
            await().atMost(Duration.ofSeconds(60)).until(() -> second.phase() == StartPhase.FAILED);
            assertThat(second.saying()).contains("copies of one data directory").contains("192.0.2.1:9");
        }
    }
}
