package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.PostStatus;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** What the primary of a shard collects from two backups in other processes. */
final class CollectFilterTest {
    private static final Configuration CONFIGURATION =
            new Configuration(1, 11, 2, List.of(1L, 1L, 1L), List.of(new ShardAssignment(2, 0, new int[] {1, 2})));

    private final List<LoggedServer> logged = List.of(new LoggedServer(0), new LoggedServer(1), new LoggedServer(2));
    private final List<RecoveredServer> servers = new ArrayList<>();
    private final List<ReconciliationMessages> reconciliations = new ArrayList<>();
    private final PeerCalls[] calls = new PeerCalls[1];

    private Endpoint endpoint() {
        return (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    final int to = (int) arguments[0];
                    final ByteBuffer asked = ((ByteBuffer) arguments[1]).order(ByteOrder.LITTLE_ENDIAN);
                    final int question = PeerMessageDescriptor.question(asked);
                    final ReconciliationMessages.Answer answer = reconciliations
                            .get(to)
                            .answer(
                                    0,
                                    question,
                                    PeerMessageDescriptor.shard(asked),
                                    PeerMessageDescriptor.argument(asked),
                                    PeerMessageDescriptor.payload(
                                            asked.duplicate().order(ByteOrder.LITTLE_ENDIAN)));
                    assertThat(answer).isNotNull();
                    calls[0].answered(
                            to,
                            PeerMessageDescriptor.write(
                                    question,
                                    true,
                                    PeerMessageDescriptor.shard(asked),
                                    CONFIGURATION.term(),
                                    PeerMessageDescriptor.number(asked),
                                    answer.argument(),
                                    answer.payload()));
                    return PostStatus.POSTED;
                });
    }

    private long collected() {
        calls[0] = new PeerCalls(endpoint(), CONFIGURATION::term, ThreadScheduling.INSTANCE);
        for (LoggedServer each : logged) {
            final RecoveredServer server = each.start();
            servers.add(server);
            reconciliations.add(new ReconciliationMessages(CONFIGURATION, server, calls[0], () -> {
                throw new StaleTermException("a server does not answer");
            }));
        }
        reconciliations.get(0).reconciliation().compare();
        return reconciliations.get(0).reconciliation().scatter();
    }

    /**
     * R33: an object was put and deleted, and two servers have dropped both for good reason. The third one has a late
     * copy of the put, and does not know yet that all this was on all replicas.
     */
    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "1, 0", "1, 2", "2, 0", "2, 1"})
    void shouldNotBringBackWhatAnyReplicaKnowsToBeCommitted(int knows, int hasACopy) {
        logged.get(hasACopy).put(Version.of(1, 1), "deleted", 100);
        logged.get(knows).commitVector(Version.of(1, 2));

        assertThat(collected()).as("copies").isZero();
        for (RecoveredServer server : servers) {
            if (server.serverId() != hasACopy) {
                assertThat(LoggedServer.versionOf(server, "deleted")).isZero();
            }
        }
    }

    /** The counterpart: above every CommitVer, one copy is enough. */
    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "1, 0", "1, 2", "2, 0", "2, 1"})
    void shouldCompleteWhatMayNotBeOnAllReplicas(int knows, int hasACopy) {
        logged.get(hasACopy).put(Version.of(1, 3), "written", 100);
        logged.get(knows).commitVector(Version.of(1, 2));

        assertThat(collected()).as("copies").isEqualTo(2);
        for (RecoveredServer server : servers) {
            assertThat(LoggedServer.versionOf(server, "written")).isEqualTo(Version.of(1, 3));
        }
    }
}
