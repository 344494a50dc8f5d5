package org.rowankv.server.opening;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.opening.LiveCluster.bytes;
import static org.rowankv.server.opening.LiveCluster.delete;
import static org.rowankv.server.opening.LiveCluster.key;
import static org.rowankv.server.opening.LiveCluster.put;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.PollableCall;

/** Server 0 ends while it copies its shards to server 3, and while it replicates a mutation. */
final class JoiningReplicaOpeningTest {
    private static final int DEAD = 0;
    private static final int NEXT = 1;
    private static final int JOINING = 3;
    private static final int SHARD = 0;
    /** Objects, but one. */
    private static final int ALL = 29;

    private static final byte[] KEY = key(SHARD, 0);

    private static boolean isJoining(LiveCluster cluster) {
        return cluster.servers.get(JOINING).replicas().get(SHARD).isJoining();
    }

    /**
     * R13: an end that did not reach the joining replica must reach it, since it may have the object. And it may have
     * what no complete replica has. The copy of the former primary may be complete, and not be known to be.
     */
    @ParameterizedTest
    @CsvSource({
        "DELETE, 1, 0",
        "DELETE, 1, 15",
        "DELETE, 1, 29",
        "DELETE, 2, 15",
        "DELETE, 3, 15",
        "CLEAR, 1, 15",
        "CLEAR, 1, 29",
        "CLEAR, 3, 15",
        "PUT, 1, 15",
        "PUT, 1, 29",
        "PUT, 3, 15",
        "PUT, 3, 29",
        "LONG_PUT, 1, 15",
        "LONG_PUT, 1, 29",
        "LONG_PUT, 3, 15"
    })
    void shouldMakeAJoiningReplicaEqualToo(String mutation, int landsOn, int copied) {
        try (LiveCluster cluster = new LiveCluster(4, Set.of(JOINING))) {
            shouldMakeItEqual(cluster, mutation, landsOn, copied);
        }
    }

    /** It takes no space for what it has already. */
    @ParameterizedTest
    @CsvSource({"DELETE, 1, 15", "CLEAR, 1, 29", "PUT, 3, 29", "LONG_PUT, 1, 15"})
    void shouldMakeAJoiningReplicaEqualThatDoesNotSayWhatItHas(String mutation, int landsOn, int copied) {
        try (LiveCluster cluster = new LiveCluster(4, Set.of(JOINING))) {
            cluster.copyEverything();
            shouldMakeItEqual(cluster, mutation, landsOn, copied);
        }
    }

    private static void shouldMakeItEqual(LiveCluster cluster, String mutation, int landsOn, int copied) {
        cluster.ok(put(KEY, bytes(50, 'o')));
        for (int i = 1; i < 30; i++) {
            cluster.ok(put(key(SHARD, i), bytes(1_000, i)));
        }
        cluster.settle();
        cluster.join(JOINING);
        cluster.stepUntil(
                () -> cluster.servers.get(JOINING).replicas().get(SHARD).index().count() > copied);
        if (copied == ALL) {
            cluster.stepUntil(() -> !isJoining(cluster));
        }
        cluster.ok(put(key(SHARD, 40), bytes(10, 'l')));
        for (int server = 1; server <= JOINING; server++) {
            cluster.fabric.gate(DEAD, server).allowEntries(server == landsOn ? 3 : 0);
        }
        final Request request = switch (mutation) {
            case "DELETE" -> delete(KEY);
            case "CLEAR" -> new Request().clear(LiveCluster.CACHE, SHARD);
            case "PUT" -> put(KEY, bytes(60, 'n'));
            default -> put(KEY, bytes(2_500, 'n'));
        };
        final PollableCall call = cluster.begin(request);
        for (int i = 0; i < 20; i++) {
            assertThat(call.step()).isFalse();
        }
        cluster.step(3);
        cluster.stop(DEAD);
        cluster.adopt(cluster.excluding(NEXT, DEAD));
        cluster.stepUntil(cluster::isAllOpen);
        cluster.stepUntil(() -> !isJoining(cluster));
        cluster.requireAgreement();
        cluster.requireExactSpace();
        final byte[] value = cluster.value(KEY);
        switch (mutation) {
            case "DELETE", "CLEAR" -> assertThat(value).isNull();
            case "PUT" -> assertThat(value).isEqualTo(bytes(60, 'n'));
            default -> assertThat(value).isEqualTo(bytes(2_500, 'n'));
        }
    }
}
