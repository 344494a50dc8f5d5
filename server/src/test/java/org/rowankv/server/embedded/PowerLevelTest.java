package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.BootId;
import org.rowankv.server.area.Machine;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;

/** Stores at durability=power: acknowledged writes are on the device; what the device refuses is not acknowledged. */
@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class PowerLevelTest {
    private static final BootId BEFORE = new BootId(1, 1);
    private static final BootId AFTER = new BootId(1, 2);

    @TempDir
    private Path dir;

    private final AtomicInteger forcesUntilBroken = new AtomicInteger(Integer.MAX_VALUE);
    private volatile int brokenServer = -1;

    @AfterEach
    void shouldLeaveNoThread() {
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("rowan-")));
    }

    private EmbeddedSettings settings(int replicas, Durability level) {
        return EmbeddedSettings.of(with -> {
            with.servers = replicas;
            with.replicas = replicas;
            with.dir = dir.resolve("store");
            with.shards = replicas;
            with.workers = 2;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
            with.durability = level;
        });
    }

    private EmbeddedCluster open(int replicas, Durability level, BootId bootId) {
        return EmbeddedCluster.open(
                settings(replicas, level),
                EmbeddedContext.machine().withMachine(new Machine(() -> bootId, BreakingMemory::new)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldForceEachReplicaBeforeItAcknowledges(int replicas) {
        try (EmbeddedCluster cluster = open(replicas, Durability.POWER, BEFORE);
                RowanClient client = Stores.client(cluster)) {
            assertThat(cluster.durability()).isEqualTo("power");
            final int cache = Stores.cache(client);
            for (int i = 0; i < 20; i++) {
                final List<Long> before = forces(cluster);
                client.put(cache, bytes("k" + i), Stores.value("k" + i, i, 5_000 * (i % 8)));
                final List<Long> after = forces(cluster);
                for (int server = 0; server < replicas; server++) {
                    assertThat(after.get(server)).isGreaterThan(before.get(server));
                }
            }
        }
        try (EmbeddedCluster cluster = open(replicas, Durability.POWER, AFTER);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 20; i++) {
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(Stores.value("k" + i, i, 5_000 * (i % 8)));
            }
        }
    }

    private static List<Long> forces(EmbeddedCluster cluster) {
        final List<Long> forces = new ArrayList<>();
        cluster.servers().forEach(server -> forces.add(server.segments().area().forces()));
        return forces;
    }

    @Test
    void shouldForceNothingBelowTheLevel() {
        try (EmbeddedCluster cluster = open(1, Durability.PROCESS, BEFORE);
                RowanClient client = Stores.client(cluster)) {
            client.put(Stores.cache(client), bytes("k"), bytes("v"));
            assertThat(forces(cluster)).containsExactly(0L);
            assertThat(cluster.durability()).isEqualTo("process");
        }
    }

    @Test
    void shouldTrustItselfUnderAnotherBootIdWhatProcessDoesNot() {
        leaveOpen(Durability.POWER);
        try (EmbeddedCluster cluster = open(1, Durability.POWER, AFTER)) {
            assertThat(cluster.errors().distinct()).isEmpty();
        }
        leaveOpen(Durability.PROCESS);
        assertThatThrownBy(() -> open(1, Durability.POWER, AFTER))
                .isInstanceOf(StoreOpenException.class)
                .hasMessageContaining("accept-unclean=true");
        open(1, Durability.POWER, BEFORE).close();
    }

    /** The level of the last use counts, not the level of the opening. */
    @Test
    void shouldChangeItsLevelFromOneOpeningToTheNext() {
        leaveOpen(Durability.PROCESS);
        leaveOpen(Durability.POWER);
        open(1, Durability.PROCESS, AFTER).close();
        leaveOpen(Durability.POWER);
        leaveOpen(Durability.PROCESS);
        assertThatThrownBy(() -> open(1, Durability.PROCESS, AFTER)).isInstanceOf(StoreOpenException.class);
        open(1, Durability.PROCESS, BEFORE).close();
    }

    /** Opens the store, puts, and abandons it as a crash does: without a clean mark. */
    private void leaveOpen(Durability level) {
        final EmbeddedCluster cluster = open(1, level, BEFORE);
        final RowanClient client = Stores.client(cluster);
        client.put(Stores.cache(client), bytes("k"), bytes("v"));
        brokenServer = 0;
        forcesUntilBroken.set(0);
        if (level == Durability.POWER) {
            // A store that cannot be forced is closed without the mark.
            assertThatThrownBy(() -> client.put(Stores.cache(client), bytes("k"), bytes("w")))
                    .isInstanceOf(RowanException.class);
            cluster.close();
        } else {
            assertThatThrownBy(cluster::close).isInstanceOf(UncheckedIOException.class);
        }
        forcesUntilBroken.set(Integer.MAX_VALUE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldAcknowledgeNothingMoreOnceADeviceFails(int server) {
        final EmbeddedCluster cluster = open(3, Durability.POWER, BEFORE);
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), bytes("v"));
        brokenServer = server;
        forcesUntilBroken.set(3);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        client.put(cache, bytes("k" + i), bytes("v" + i));
                    }
                })
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("could not be forced")
                .hasMessageContaining("area-" + server);
        // The device works again, which changes nothing: it may have dropped writes.
        forcesUntilBroken.set(Integer.MAX_VALUE);
        assertThatThrownBy(() -> client.put(cache, bytes("l"), bytes("v"))).isInstanceOf(RowanException.class);
        assertThatThrownBy(() -> client.get(cache, bytes("k"))).isInstanceOf(RowanException.class);
        cluster.close();
        try (EmbeddedCluster again = open(3, Durability.POWER, AFTER);
                RowanClient reader = Stores.client(again)) {
            assertThat(reader.get(Stores.cache(reader), bytes("k"))).isEqualTo(bytes("v"));
        }
    }

    /**
     * The second failure determines the close: the stopped agent's partial work is on no area that counts as closed.
     */
    @Test
    void shouldNotCloseCleanlyWhenAnAgentWasStoppedAfterADeviceHadFailed() {
        final EmbeddedCluster cluster = open(3, Durability.POWER, BEFORE);
        final RowanClient client = Stores.client(cluster);
        final int cache = Stores.cache(client);
        client.put(cache, bytes("k"), bytes("v"));
        brokenServer = 0;
        forcesUntilBroken.set(0);
        assertThatThrownBy(() -> client.put(cache, bytes("k"), bytes("w")))
                .isInstanceOf(RowanException.class)
                .hasMessageContaining("could not be forced");
        cluster.errors().broken("planted", new AssertionError("planted"));
        cluster.close();
        for (int server = 0; server < 3; server++) {
            assertThat(AreaImage.open(dir.resolve("store"), server).superblock().clean())
                    .as("server %d", server)
                    .isFalse();
        }
    }

    @Test
    void shouldRefuseALevelThatDoesNotSuitTheDir() {
        assertThatThrownBy(() -> EmbeddedSettings.of(with -> {
                    with.dir = dir.resolve("store");
                    with.durability = Durability.NONE;
                }))
                .hasMessageContaining("durability=none");
        for (Durability level : List.of(Durability.PROCESS, Durability.POWER)) {
            assertThatThrownBy(() -> EmbeddedCluster.open(EmbeddedSettings.of(with -> with.durability = level)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("needs a file: give dir=");
        }
    }

    /** The device of one server fails after that many more forces. */
    private final class BreakingMemory implements AreaMemory {
        private final int server;
        private final AreaMemory below;

        BreakingMemory(AreaSettings settings, AreaMemory below) {
            this.server = settings.serverId();
            this.below = below;
        }

        private void useDevice() {
            if (server == brokenServer && forcesUntilBroken.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
                throw new UncheckedIOException(new IOException("Input/output error"));
            }
        }

        @Override
        public void force(ForceRanges ranges) {
            useDevice();
            below.force(ranges);
        }

        @Override
        public void flushAll() {
            useDevice();
            below.flushAll();
        }

        @Override
        public MemoryRegion region() {
            return below.region();
        }

        @Override
        public ByteBuffer header() {
            return below.header();
        }

        @Override
        public void ensureBacked(long address) {
            below.ensureBacked(address);
        }

        @Override
        public DurabilityVerbs verbs() {
            return below.verbs();
        }

        @Override
        public DurabilityVerbs device() {
            return below.device();
        }
    }
}
