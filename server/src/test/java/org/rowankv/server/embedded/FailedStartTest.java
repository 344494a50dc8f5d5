package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.FabricCapabilities;
import org.rowankv.runtime.AgentStoppedException;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.runtime.agent.AgentHandle;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.runtime.agent.ThreadScheduling;

/** A start that fails while the servers' agents run: all of it is undone before files and lock are released. */
@Tag("chaos")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class FailedStartTest {
    private final List<AgentHandle> started = new CopyOnWriteArrayList<>();
    private volatile boolean fabricClosed;
    /** Role of the agent that meets a broken invariant when it is taken. */
    private @Nullable String brokenRole;

    @TempDir
    private Path dir;

    @AfterEach
    void leave() {
        Chaos.reset();
        started.forEach(AgentHandle::close);
    }

    private EmbeddedSettings settings() {
        return EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.shards = 3;
            with.workers = 1;
            with.capacityBytes = 4 << 20;
            with.segmentBytes = 64 << 10;
        });
    }

    /** Records each started agent. */
    private final class RecordingScheduling implements Scheduling {
        @Override
        public AgentHandle take(Agent agent, ErrorLog errors) {
            if (agent.roleName().equals(brokenRole)) {
                errors.broken(brokenRole, new AssertionError("planted"));
            }
            final AgentHandle taken = ThreadScheduling.INSTANCE.take(agent, errors);
            started.add(taken);
            return taken;
        }

        @Override
        public void park(long ns) {
            ThreadScheduling.INSTANCE.park(ns);
        }
    }

    private Fabric noted(Fabric usual) {
        return new Fabric() {
            @Override
            public FabricCapabilities capabilities() {
                return usual.capabilities();
            }

            @Override
            public Endpoint open(EndpointSettings endpointSettings) {
                return usual.open(endpointSettings);
            }

            @Override
            public void close() {
                fabricClosed = true;
                usual.close();
            }
        };
    }

    private EmbeddedContext surroundings() {
        final EmbeddedContext usual = EmbeddedContext.machine();
        return new EmbeddedContext(
                usual.clocks(),
                usual.random(),
                new RecordingScheduling(),
                this::noted,
                null,
                usual.areaMachine(),
                usual.tuning(),
                1,
                true);
    }

    @Test
    void shouldEndItsAgentsBeforeItGivesTheFilesBack() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings())) {
            // It leaves its sessions open: the next start closes them.
            final RowanClient client = Stores.client(cluster);
            client.put(Stores.cache(client), bytes("k"), value("k", 1, 300));
        }
        final Thread opener = Thread.currentThread();
        Chaos.install(name -> {
            if (name.equals("request.before-index") && Thread.currentThread() == opener) {
                throw new IllegalStateException("planted");
            }
        });
        assertThatThrownBy(() -> EmbeddedCluster.open(settings(), surroundings()))
                .hasStackTraceContaining("planted");
        Chaos.reset();
        assertThat(started).isNotEmpty().allMatch(AgentHandle::isClosed);
        assertThat(fabricClosed).isTrue();
        try (EmbeddedCluster again = EmbeddedCluster.open(settings())) {
            final RowanClient reader = Stores.client(again, 8);
            assertThat(reader.get(Stores.cache(reader), bytes("k"))).isEqualTo(value("k", 1, 300));
            Stores.requireHealth(again);
        }
    }

    /** No server serves yet, so none can be informed immediately. */
    @Test
    void shouldRefuseEverythingWhenAnAgentIsStoppedBeforeTheServersServe() {
        brokenRole = "server-1";
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(), surroundings())) {
            final RowanClient client = Stores.client(cluster);
            final int cache = Stores.cache(client);
            for (int i = 0; i < 6; i++) {
                final String key = "k" + i;
                assertThatThrownBy(() -> client.put(cache, bytes(key), bytes("v")))
                        .isInstanceOf(RowanException.class)
                        .hasMessageContaining("planted")
                        .hasCauseInstanceOf(AgentStoppedException.class);
            }
        }
    }
}
