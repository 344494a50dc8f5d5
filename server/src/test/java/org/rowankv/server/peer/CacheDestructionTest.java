package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.PostStatus;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.cluster.AwayStore;
import org.rowankv.server.dispatch.RequestDispatch;
import org.rowankv.server.engine.Server;

/** A cache is destroyed once each of its shards has said so, whichever server was the primary when it was asked. */
@Tag("mocked")
@Timeout(120)
final class CacheDestructionTest {
    private static final int OTHER = 1;

    /** What the other server's primaries answer, one after the other. */
    private final Queue<BitSet> answers = new ArrayDeque<>();
    /** What this server answers for each shard. */
    private final Status[] own = {Status.OK, Status.NOT_PRIMARY, Status.NOT_PRIMARY};

    private PeerCalls calls;
    private ClusterCatalogue catalogue;
    private boolean over;

    @BeforeEach
    void create() {
        final RequestDispatch dispatch = mock(RequestDispatch.class);
        doAnswer(call -> {
                    final Request request = call.getArgument(0);
                    request.answer(own[request.shard()], 0, 0, 0);
                    return null;
                })
                .when(dispatch)
                .call(any());
        final Server server = mock(Server.class);
        when(server.requests()).thenReturn(dispatch);
        final Endpoint endpoint = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    answer(((ByteBuffer) arguments[1]).order(ByteOrder.LITTLE_ENDIAN));
                    return PostStatus.POSTED;
                });
        calls = new PeerCalls(endpoint, () -> 1, ThreadScheduling.INSTANCE);
        catalogue = new ClusterCatalogue(
                new AwayStore(),
                "test",
                new SplittableRandomSource(1),
                List.of(),
                server,
                own.length,
                () -> List.of(OTHER),
                ThreadScheduling.INSTANCE,
                calls,
                () -> {
                    if (over) {
                        throw new StaleTermException("over");
                    }
                });
        assertThat(catalogue.create("books", new byte[0])).isNotNull();
    }

    private void answer(ByteBuffer question) {
        final BitSet shards = answers.poll();
        if (shards == null) {
            over = true;
            return;
        }
        calls.answered(
                OTHER,
                PeerMessageDescriptor.write(
                                PeerMessageDescriptor.question(question),
                                true,
                                PeerMessageDescriptor.shard(question),
                                PeerMessageDescriptor.term(question),
                                PeerMessageDescriptor.number(question),
                                0,
                                ByteBuffer.wrap(shards.toByteArray()))
                        .order(ByteOrder.LITTLE_ENDIAN));
    }

    private static BitSet shards(int... shards) {
        final BitSet set = new BitSet();
        for (int shard : shards) {
            set.set(shard);
        }
        return set;
    }

    @Test
    void shouldAskOnceIfEachShardHasAPrimary() {
        answers.addAll(List.of(shards(1, 2), shards()));
        assertThat(catalogue.destroy("books")).isTrue();
        assertThat(answers).hasSize(1);
        assertThat(catalogue.list()).isEmpty();
    }

    @Test
    void shouldAskAgainUntilAShardThatMovedHasAnswered() {
        answers.addAll(List.of(shards(1), shards(1), shards(2)));
        assertThat(catalogue.destroy("books")).isTrue();
        assertThat(answers).as("answers not waited for").isEmpty();
    }

    @Test
    void shouldTakeAShardThatMovedHereInTheMeantime() {
        own[2] = Status.UNKNOWN_CACHE;
        answers.add(shards(1));
        assertThat(catalogue.destroy("books")).isTrue();
        assertThat(answers).isEmpty();
    }

    @Test
    void shouldNotCountAShardThatNobodyAnsweredFor() {
        answers.addAll(List.of(shards(1), shards(1)));
        assertThatThrownBy(() -> catalogue.destroy("books")).isInstanceOf(StaleTermException.class);
        assertThat(answers).isEmpty();
    }

    @Test
    void shouldEndTheWaitWhenTheServerStops() {
        own[1] = Status.CLOSED;
        assertThatThrownBy(() -> catalogue.destroy("books")).isInstanceOf(StaleTermException.class);
    }
}
