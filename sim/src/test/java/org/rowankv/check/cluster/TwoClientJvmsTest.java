package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.cache.CacheManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.ClientProcess;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;

/** Server processes, and client JVMs that share nothing else: on one version of Java, and on two. */
class TwoClientJvmsTest {
    private static final int CALLERS = 3;
    private static final int CALLS = 100;
    private static final Launch SMALL =
            Launch.DEFAULT.withJvmOptions("-Xmx256m").withServerOptions("--shards=6");

    /** They run on this Java. */
    private static TemporaryCluster servers;

    @BeforeAll
    static void start() throws IOException {
        servers = servers(SMALL);
    }

    @AfterAll
    static void stop() throws IOException {
        servers.close();
    }

    private static TemporaryCluster servers(Launch launch) throws IOException {
        return TemporaryCluster.start("clients", 2, 2, "64m", launch);
    }

    /** Each JVM increments one counter; returns the increase. */
    private static long countInEach(TemporaryCluster cluster, Path... javas) throws Exception {
        final String uri = cluster.uri() + "?operation-timeout=120";
        final List<ClientProcess> clients = new ArrayList<>();
        try (CacheManager manager = ClientJvm.manager(uri)) {
            final long before = ClientJvm.counted(manager);
            for (Path java : javas) {
                clients.add(ClientProcess.start(java, uri, CALLERS * clients.size(), CALLERS, 10, clients.size()));
            }
            for (ClientProcess client : clients) {
                client.count(CALLS);
            }
            for (ClientProcess client : clients) {
                client.awaitCounted();
            }
            for (ClientProcess client : clients) {
                assertThat(client.end()).isZero();
            }
            return ClientJvm.counted(manager) - before;
        } finally {
            for (ClientProcess client : clients) {
                client.close();
            }
        }
    }

    private static Path otherJava() throws IOException {
        final Optional<Path> other = OtherJava.find();
        assumeTrue(other.isPresent(), OtherJava.missing());
        return other.get();
    }

    @Test
    void shouldLoseNoIncrementOfEntryProcessorsInTwoJvms() throws Exception {
        assertThat(countInEach(servers, Launch.DEFAULT.java(), Launch.DEFAULT.java()))
                .isEqualTo(2L * CALLERS * CALLS);
    }

    @Test
    void shouldServeAClientOfAnotherJava() throws Exception {
        assertThat(countInEach(servers, otherJava(), Launch.DEFAULT.java())).isEqualTo(2L * CALLERS * CALLS);
    }

    @Test
    void shouldBeServedByServersOfAnotherJava() throws Exception {
        try (TemporaryCluster others = servers(SMALL.withJava(otherJava()))) {
            assertThat(countInEach(others, Launch.DEFAULT.java())).isEqualTo((long) CALLERS * CALLS);
        }
    }
}
