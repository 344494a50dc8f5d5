package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.PostStatus;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.recovery.LoggedServer;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Servers in separate processes, nearly out of segments, start without any CommitVer record in their logs: every entry
 * may be missing on another replica.
 */
final class ReconciliationRoomTest {
    private static final int LEFT_FREE = 1;
    private static final Configuration CONFIGURATION =
            new Configuration(1, 11, 2, List.of(1L, 1L), List.of(new ShardAssignment(2, 0, new int[] {1})));

    private final LoggedServer primary = new LoggedServer(0);
    private final LoggedServer backup = new LoggedServer(1);
    private final Map<String, Long> expected = new HashMap<>();
    private final List<ReconciliationMessages> exchanges = new ArrayList<>();
    private final List<PeerCalls> calls = new ArrayList<>();
    private long version = Version.of(1, 0);

    private long next() {
        version = Version.next(version);
        return version;
    }

    /** In each segment some objects live, and others were replaced. */
    private void fill() {
        for (int i = 0; primary.freeSegments() > LEFT_FREE; i++) {
            putOnBoth("kept" + i, 1_000);
            putOnBoth("replaced", 1_500);
        }
    }

    private void putOnBoth(String key, int valueLength) {
        final long given = next();
        primary.put(given, key, valueLength);
        backup.put(given, key, valueLength);
        expected.put(key, given);
    }

    private void putOn(LoggedServer one, String key) {
        final long given = next();
        one.put(given, key, 100);
        expected.put(key, given);
    }

    /** Messages arrive at once, each request and each answer twice. */
    private Endpoint endpointOf(int from) {
        return (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    final int to = (int) arguments[0];
                    final ByteBuffer asked = ((ByteBuffer) arguments[1]).order(ByteOrder.LITTLE_ENDIAN);
                    for (int time = 0; time < 2; time++) {
                        final ReconciliationMessages.Answer answer = exchanges
                                .get(to)
                                .answer(
                                        from,
                                        PeerMessageDescriptor.question(asked),
                                        PeerMessageDescriptor.shard(asked),
                                        PeerMessageDescriptor.argument(asked),
                                        PeerMessageDescriptor.payload(
                                                asked.duplicate().order(ByteOrder.LITTLE_ENDIAN)));
                        assertThat(answer).isNotNull();
                        calls.get(from)
                                .answered(
                                        to,
                                        PeerMessageDescriptor.write(
                                                PeerMessageDescriptor.question(asked),
                                                true,
                                                PeerMessageDescriptor.shard(asked),
                                                CONFIGURATION.term(),
                                                PeerMessageDescriptor.number(asked),
                                                answer.argument(),
                                                answer.payload()));
                    }
                    return PostStatus.POSTED;
                });
    }

    private List<RecoveredServer> started() {
        final List<RecoveredServer> servers = List.of(primary.start(), backup.start());
        for (RecoveredServer server : servers) {
            final PeerCalls calling =
                    new PeerCalls(endpointOf(server.serverId()), CONFIGURATION::term, ThreadScheduling.INSTANCE);
            calls.add(calling);
            exchanges.add(
                    new ReconciliationMessages(CONFIGURATION, server, calling, ReconciliationRoomTest::notAnswered));
        }
        exchanges.forEach(each -> each.reconciliation().compare());
        exchanges.forEach(each -> each.reconciliation().scatter());
        servers.forEach(RecoveredServer::finish);
        return servers;
    }

    private static void notAnswered() {
        throw new StaleTermException("a server does not answer");
    }

    private void requireAll(List<RecoveredServer> servers) {
        for (RecoveredServer server : servers) {
            expected.forEach((key, given) -> assertThat(LoggedServer.versionOf(server, key))
                    .as("%s on server %d", key, server.serverId())
                    .isEqualTo(given));
        }
    }

    @Test
    void shouldTakeOverWhatABackupLacksAlthoughCandidatesLieInEverySegment() {
        fill();
        putOn(primary, "lacking");
        requireAll(started());
    }

    @Test
    void shouldTakeOverWhatThePrimaryLacksAlthoughCandidatesLieInEverySegment() {
        fill();
        putOn(backup, "lacking");
        requireAll(started());
    }

    @Test
    void shouldTakeOverWhatEachLacks() {
        fill();
        for (int i = 0; i < 20; i++) {
            putOn(i % 2 == 0 ? primary : backup, "lacking" + i);
        }
        requireAll(started());
    }

    /** More versions than one message holds, and none at all. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 150_000})
    void shouldTellLackingVersionsInPartsOfWhichOneIsTheLast(int count) {
        final Set<Long> lacking =
                LongStream.rangeClosed(1, count).boxed().collect(Collectors.toCollection(TreeSet::new));
        final List<Long> lackingAsSent = new ArrayList<>();
        final List<Long> arguments = new ArrayList<>();
        final PeerCalls[] asking = new PeerCalls[1];
        final Endpoint endpoint = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, parameters) -> {
                    final ByteBuffer asked = ((ByteBuffer) parameters[1]).order(ByteOrder.LITTLE_ENDIAN);
                    final ByteBuffer versions = PeerMessageDescriptor.payload(asked);
                    assertThat(versions.remaining()).isLessThanOrEqualTo((64 << 10) * Long.BYTES);
                    while (versions.hasRemaining()) {
                        lackingAsSent.add(versions.getLong());
                    }
                    arguments.add(PeerMessageDescriptor.argument(asked));
                    asking[0].answered(
                            1,
                            PeerMessageDescriptor.write(
                                    PeerRequestType.LACKING,
                                    true,
                                    3,
                                    9,
                                    PeerMessageDescriptor.number(asked),
                                    0,
                                    ByteBuffer.allocate(0)));
                    return PostStatus.POSTED;
                });
        asking[0] = new PeerCalls(endpoint, () -> 9, ThreadScheduling.INSTANCE);
        new ReconciliationMessages(CONFIGURATION, backup.start(), asking[0], ReconciliationRoomTest::notAnswered)
                .replicas(1)
                .keepOnly(3, lacking);
        assertThat(lackingAsSent).containsExactlyElementsOf(lacking);
        assertThat(arguments).endsWith(0L);
        assertThat(arguments.subList(0, arguments.size() - 1)).allMatch(each -> each == 1);
    }

    @Test
    void shouldNotAnswerVersionsThatAreNone() {
        putOnBoth("key", 100);
        final ReconciliationMessages exchange = new ReconciliationMessages(
                CONFIGURATION,
                backup.start(),
                new PeerCalls(endpointOf(1), CONFIGURATION::term, ThreadScheduling.INSTANCE),
                ReconciliationRoomTest::notAnswered);
        assertThat(exchange.answer(0, PeerRequestType.LACKING, 0, 0, ByteBuffer.allocate(9)))
                .isNull();
        assertThat(exchange.answer(1, PeerRequestType.LACKING, 0, 0, ByteBuffer.allocate(8)))
                .as("not from the primary")
                .isNull();
        assertThat(exchange.answer(0, PeerRequestType.LACKING, 0, 0, ByteBuffer.allocate(0)))
                .isNotNull();
    }
}
