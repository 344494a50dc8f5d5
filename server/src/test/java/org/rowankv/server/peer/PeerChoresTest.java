package org.rowankv.server.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.Endpoint;
import org.rowankv.rdma.PostStatus;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.cluster.AwayStore;
import org.rowankv.topology.Configuration;

/**
 * Deferred requests, which are resent until answered: each runs once at a time, and again after a failure or a lost
 * answer.
 */
final class PeerChoresTest {
    private static final Configuration ADOPTED = Configuration.initial(5, 6, 2, 2, 2, List.of(3L, 4L));

    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final AwayStore store = new AwayStore();
    private final Queue<Runnable> chores = new ArrayDeque<>();
    private final List<Long> answered = new ArrayList<>();
    private final PeerMessages messages = new PeerMessages(0, errors, chores::add);

    @BeforeEach
    void serve() {
        final Endpoint endpoint = (Endpoint) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Endpoint.class}, (proxy, method, arguments) -> {
                    final ByteBuffer message = ((ByteBuffer) arguments[1]).order(ByteOrder.LITTLE_ENDIAN);
                    assertThat(PeerMessageDescriptor.isAnswer(message)).isTrue();
                    answered.add(PeerMessageDescriptor.number(message));
                    return PostStatus.POSTED;
                });
        final PeerCalls calls = new PeerCalls(endpoint, ADOPTED::term, ThreadScheduling.INSTANCE);
        messages.use(endpoint);
        messages.adopt(ADOPTED, calls, new ReconciliationMessages(ADOPTED, null, calls, () -> {}));
        // There are no caches: its limits are read from the store, and none applies to the server.
        messages.serve(
                null,
                new ClusterCatalogue(
                        store,
                        "test",
                        new SplittableRandomSource(1),
                        List.of(),
                        null,
                        2,
                        List::of,
                        ThreadScheduling.INSTANCE,
                        calls,
                        () -> {}));
    }

    private void ask(long number) {
        messages.onMessage(
                1,
                4,
                PeerMessageDescriptor.write(
                        PeerRequestType.CATALOGUE, false, 0, ADOPTED.term(), number, 0, ByteBuffer.allocate(0)));
    }

    private void work() {
        for (Runnable chore = chores.poll(); chore != null; chore = chores.poll()) {
            chore.run();
        }
    }

    @Test
    void shouldDoOnceWhatIsAskedAgainWhileItIsAtWork() {
        for (int times = 0; times < 3; times++) {
            ask(7);
            ask(8);
        }
        assertThat(chores).hasSize(2);
        work();
        assertThat(answered).containsExactly(7L, 8L);
    }

    @Test
    void shouldDoAgainWhatFailedAndWhatIsAskedAgain() {
        store.away = true;
        for (int times = 0; times < 3; times++) {
            ask(7);
            work();
        }
        assertThat(store.failures).hasValue(3);
        assertThat(answered).isEmpty();
        store.away = false;
        for (int times = 0; times < 2; times++) { // the first answer was lost
            ask(7);
            work();
        }
        assertThat(answered).containsExactly(7L, 7L);
        assertThat(errors.count()).isLessThanOrEqualTo(3);
    }
}
