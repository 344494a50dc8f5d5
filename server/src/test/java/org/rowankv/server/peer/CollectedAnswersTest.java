package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.PostStatus;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Answers of another server about a shard, genuine and forged. */
class CollectedAnswersTest {
    private static final int SHARD = 3;
    private static final int EPOCH = 7;
    private static final long TERM = 9;
    private static final long ABOVE = Version.of(5, 100);
    private static final Configuration CONFIGURATION = new Configuration(
            1, TERM, 2, List.of(1L, 1L), Collections.nCopies(SHARD + 1, new ShardAssignment(EPOCH, 0, new int[] {1})));

    private final Set<Long> versions = new TreeSet<>();
    private PeerCalls calls;

    /** Collects from a server with that answer. */
    private long collect(long commitVersion, ByteBuffer payload, int question, int shard) {
        final Endpoint answering = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    final ByteBuffer asked = ((ByteBuffer) arguments[1]).order(ByteOrder.LITTLE_ENDIAN);
                    calls.answered(
                            1,
                            PeerMessageDescriptor.write(
                                    question,
                                    true,
                                    shard,
                                    TERM,
                                    PeerMessageDescriptor.number(asked),
                                    commitVersion,
                                    payload.duplicate()));
                    return PostStatus.POSTED;
                });
        calls = new PeerCalls(answering, () -> TERM, ThreadScheduling.INSTANCE);
        final ReconciliationMessages messages = new ReconciliationMessages(CONFIGURATION, null, calls, () -> {
            throw new StaleTermException("server 1 does not answer");
        });
        return messages.replicas(1).collect(SHARD, ABOVE, versions);
    }

    private long collect(long commitVersion, long... found) {
        final ByteBuffer payload =
                ByteBuffer.allocate(found.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long version : found) {
            payload.putLong(version);
        }
        return collect(commitVersion, payload.flip(), PeerRequestType.COLLECT, SHARD);
    }

    @Test
    void shouldTakeWhatMayBeTrue() {
        assertThat(collect(Version.of(6, 40), Version.of(5, 101), Version.of(6, 1), Version.of(6, 41)))
                .isEqualTo(Version.of(6, 40));
        assertThat(versions).containsExactly(Version.of(5, 101), Version.of(6, 1), Version.of(6, 41));
        assertThat(collect(Version.NONE)).isEqualTo(Version.NONE);
    }

    @Test
    void shouldRefuseACommitVersionOfAnEpochThatOnlyBegins() {
        for (long forged :
                new long[] {Version.of(EPOCH, 0), Version.of(EPOCH, 1), Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> collect(forged))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the answer of server 1 about shard 3")
                    .hasMessageContaining("epoch 7 is new");
        }
    }

    @Test
    void shouldRefuseVersionsThatCannotBe() {
        final long[][] forged = {
            {ABOVE}, // not above the requested version
            {Version.of(6, 2), Version.of(6, 1)},
            {Version.of(6, 2), Version.of(6, 2)},
            {Version.of(EPOCH, 0)},
            {Long.MAX_VALUE},
            {-1}
        };
        for (long[] each : forged) {
            assertThatThrownBy(() -> collect(Version.of(6, 40), each)).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(() -> collect(Version.NONE, ByteBuffer.allocate(9), PeerRequestType.COLLECT, SHARD))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("9 bytes");
        assertThat(versions).isEmpty();
    }

    @Test
    void shouldNotHearAnswersOfOtherQuestions() {
        final ByteBuffer nothing = ByteBuffer.allocate(0);
        assertThatThrownBy(() -> collect(Version.NONE, nothing, PeerRequestType.FETCH, SHARD))
                .isInstanceOf(StaleTermException.class);
        assertThatThrownBy(() -> collect(Version.NONE, nothing, PeerRequestType.COLLECT, SHARD + 1))
                .isInstanceOf(StaleTermException.class);
    }
}
