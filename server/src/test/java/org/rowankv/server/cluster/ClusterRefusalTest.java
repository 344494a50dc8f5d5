package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.server.configstore.ConfigurationCodec;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.configstore.Stamp;
import org.rowankv.server.configstore.VersionedNode;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.HostAndPort;

/** Refusals of a cluster's server, each with its remedy; the running servers continue. */
class ClusterRefusalTest {
    private static final long CAPACITY = 8 << 20;

    @TempDir
    Path dir;

    private static void awaitRefusal(ClusterServer server, String... parts) {
        await().atMost(Duration.ofSeconds(30)).until(() -> server.phase() == StartPhase.FAILED);
        assertThat(server.failure()).hasMessageContainingAll(parts);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static ConfigurationStore copyOf(ConfigurationStore store) {
        final ConfigurationStore copy = new MemoryConfigurationStore();
        for (String path : List.of("/members", ConfigurationCodec.PATH, "/servers/a", "/servers/b")) {
            final VersionedNode node = store.read(path);
            assertThat(copy.compareAndSet(path, ConfigurationStore.ABSENT, node.bytes(), new Stamp("copy", 1)))
                    .isTrue();
        }
        return copy;
    }

    @Test
    void shouldRefuseAddressesThatNobodyCanReach() {
        assertThat(HostAndPort.parse("[::1]:7171")).isEqualTo(new HostAndPort("::1", 7171));
        assertThat(HostAndPort.parse("[::1]:7171")).hasToString("[::1]:7171");
        assertThat(HostAndPort.parse("127.0.0.1:1").requireReachable()).isEqualTo(new HostAndPort("127.0.0.1", 1));
        for (String none : List.of("host", "::1:7171", "host:", "host:x", ":7171", "host:65536", "host:-1", "[::1:7")) {
            assertThatThrownBy(() -> HostAndPort.parse(none)).as(none).isInstanceOf(IllegalArgumentException.class);
        }
        for (String all : List.of("0.0.0.0:7171", "[::]:7171", "224.0.0.1:7171")) {
            assertThatThrownBy(() -> HostAndPort.parse(all).requireReachable())
                    .as(all)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Advertise the one");
        }
        assertThatThrownBy(() -> HostAndPort.parse("127.0.0.1:0").requireReachable())
                .hasMessageContaining("advertise the real port");
        assertThatThrownBy(() -> HostAndPort.parse("no-such-host.invalid:7171").requireReachable())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is unknown here");
    }

    @Test
    void shouldRefuseMoreReplicasThanServers() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY)) {
            final ClusterShape shape = new ClusterShape(2, 3, 8, ClusterBed.SEGMENT, 16 << 10, Durability.PROCESS);
            assertThatThrownBy(() -> bed.settings("a", shape, "", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("replicas must be 1..2 (the number of servers), not 3");
        }
    }

    @Test
    void shouldRefuseASecondServerOfOneName() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY)) {
            bed.members.get(0).start();
            await().until(() -> bed.store.read("/servers/a") != null);
            final ClusterBed.Member second = bed.members.get(1);
            second.start(bed.settings(dir.resolve("other"), "a", bed.shape(), "", second.proxy.port()));
            awaitRefusal(second.server, "another server uses the name 'a'", "a name of its own");
            second.stop();
            second.start();
            bed.awaitServing();
        }
    }

    @Test
    void shouldRefuseTheDirectoryOfAnotherServerAndACopy() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY).startAll()) {
            final ClusterBed.Member second = bed.members.get(1);
            second.stop();
            second.start(bed.settings(dir.resolve("a"), "b", bed.shape(), "", 1));
            awaitRefusal(second.server, "is open in this JVM already");
            second.stop();
            bed.members.get(0).stop();
            second.start(bed.settings(dir.resolve("a"), "b", bed.shape(), "", 1));
            awaitRefusal(second.server, "is that of server 'a' of cluster 'test', not of 'b'");
            second.stop();
            copy(dir.resolve("b"), dir.resolve("copy"));
            second.start(bed.settings(dir.resolve("copy"), "b", bed.shape(), "", 1));
            awaitRefusal(second.server, "is a copy of the one that server 'b' was made in", "accept-copied");
            second.stop();
            bed.members.forEach(ClusterBed.Member::start);
            bed.awaitServing();
        }
    }

    @Test
    void shouldRefuseADirectoryWhoseDataAreOlder() throws IOException {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY).startAll()) {
            final ClusterBed.Member second = bed.members.get(1);
            second.stop();
            Files.copy(dir.resolve("b/area-1.rowan"), dir.resolve("older"));
            second.start();
            bed.awaitServing();
            second.stop();
            Files.write(dir.resolve("b/area-1.rowan"), Files.readAllBytes(dir.resolve("older")));
            second.start();
            awaitRefusal(second.server, "they are older than the configuration");
        }
    }

    @Test
    void shouldRefuseAStoreThatWasWipedOrIsOlder() {
        final ConfigurationStore before;
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY).startAll()) {
            before = copyOf(bed.store);
            bed.members.get(0).stop();
            bed.members.get(0).start();
            bed.awaitServing();
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            try (ClusterBed wiped = new ClusterBed(dir, 2, 2, CAPACITY, new MemoryConfigurationStore())) {
                wiped.members.forEach(ClusterBed.Member::start);
                for (ClusterBed.Member member : wiped.members) {
                    awaitRefusal(member.server, "knows no cluster 'test'", "Restore that from a backup");
                }
            }
        }
        try (ClusterBed older = new ClusterBed(dir, 2, 2, CAPACITY, before)) {
            older.members.forEach(ClusterBed.Member::start);
            for (ClusterBed.Member member : older.members) {
                awaitRefusal(member.server, "has adopted term", "is older than the data");
            }
        }
    }

    @Test
    void shouldRefuseServersThatDifferInWhatAllMustHave() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY)) {
            bed.members.get(0).start();
            await().until(() -> bed.store.read("/servers/a") != null);
            final ClusterBed.Member second = bed.members.get(1);
            final ClusterShape power = new ClusterShape(2, 2, 8, ClusterBed.SEGMENT, 16 << 10, Durability.POWER);
            second.start(bed.settings("b", power, "", second.proxy.port()));
            awaitRefusal(second.server, "this server has durability power, but server 'a'", "has process");
            second.stop();
            final ClusterShape longer = new ClusterShape(2, 2, 8, 2 * ClusterBed.SEGMENT, 16 << 10, Durability.PROCESS);
            second.start(bed.settings("b", longer, "", second.proxy.port()));
            awaitRefusal(second.server, "this server has segment 131072, but server 'a'", "has 65536");
            second.stop();
            final ClusterShape rdma =
                    new ClusterShape(2, 2, 8, ClusterBed.SEGMENT, 16 << 10, Durability.PROCESS, FabricKind.RDMA_LANDED);
            second.start(bed.settings("b", rdma, "", second.proxy.port()));
            awaitRefusal(
                    second.server,
                    "this server has the fabric rdma (landed), but server 'a'",
                    "has tcp",
                    "Start this server with --fabric tcp");
            second.stop();
            second.start();
            bed.awaitServing();
            second.stop();
            second.start(bed.settings("b", rdma, "", second.proxy.port()));
            awaitRefusal(second.server, "the fabric rdma (landed), but the cluster 'test' has tcp");
            second.stop();
            second.start(bed.settings("b", power, "", second.proxy.port()));
            awaitRefusal(second.server, "this server has durability power, but the cluster 'test' has process");
        }
    }

    @Test
    void shouldRefuseAServerThatIsNoMember() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, CAPACITY).startAll()) {
            final ClusterBed.Member second = bed.members.get(1);
            second.stop();
            second.start(bed.settings("c", bed.shape(), "", second.proxy.port()));
            awaitRefusal(second.server, "'c' is none of them: a, b");
        }
    }
}
