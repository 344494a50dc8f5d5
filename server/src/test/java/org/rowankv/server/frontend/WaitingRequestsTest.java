package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.PollableCall;

/** Which requests a waiting one delays, and which not. */
final class WaitingRequestsTest {
    private static final int ANY = -1;

    /** What each request waits for: a backup's share, or {@link #ANY} context; absent: nothing. */
    private final Map<Request, Integer> awaited = new HashMap<>();

    private final WaitingRequests waiting = new WaitingRequests();
    private final List<PendingRequest> answered = new ArrayList<>();
    private final List<PendingRequest> begun = new ArrayList<>();
    private final Set<PendingRequest> slow = new HashSet<>();

    private final class Call implements PollableCall {
        private final Request request;

        Call(Request request) {
            this.request = request;
        }

        @Override
        public void again() {}

        @Override
        public boolean step() {
            return !awaited.containsKey(request);
        }

        @Override
        public boolean awaitsWorker() {
            return awaited.containsKey(request);
        }

        @Override
        public int awaitedBackup() {
            return awaited.getOrDefault(request, ANY);
        }
    }

    private PendingRequest arrives() {
        final PendingRequest one = new PendingRequest(Call::new);
        waiting.add(one);
        return one;
    }

    private PendingRequest arrivesFor(int backup) {
        final PendingRequest one = arrives();
        awaited.put(one.request(), backup);
        return one;
    }

    private void step() {
        waiting.step(
                request -> {
                    final boolean isAnswered = request.call().step() && !slow.contains(request);
                    if (isAnswered) {
                        answered.add(request);
                    }
                    return isAnswered;
                },
                begun);
    }

    @Test
    void shouldLetOthersPassThoseThatWaitForTheShareOfABackup() {
        final PendingRequest ofTwo = arrivesFor(2);
        final PendingRequest ofNone = arrives();
        final PendingRequest alsoOfTwo = arrivesFor(2);
        final PendingRequest ofOne = arrivesFor(1);
        final PendingRequest last = arrives();
        step();
        assertThat(answered).containsExactly(ofNone, last);
        assertThat(waiting.isEmpty()).isFalse();

        awaited.clear();
        step();
        assertThat(answered).containsExactly(ofNone, last, ofOne, ofTwo, alsoOfTwo);
        assertThat(waiting.isEmpty()).isTrue();
    }

    @Test
    void shouldKeepTheOrderWhileNoContextIsFree() {
        final PendingRequest first = arrivesFor(ANY);
        final PendingRequest second = arrives();
        step();
        assertThat(answered).isEmpty();
        awaited.clear();
        step();
        assertThat(answered).containsExactly(first, second);
    }

    @Test
    void shouldKeepTheOrderOfThoseWithTheSameBackup() {
        final PendingRequest first = arrivesFor(0);
        final PendingRequest second = arrivesFor(0);
        step();
        awaited.remove(second.request()); // the first is polled before it, and still has to wait
        step();
        assertThat(answered).isEmpty();
        awaited.remove(first.request());
        step();
        assertThat(answered).containsExactly(first, second);
    }

    @Test
    void shouldHandOverThoseThatHaveASlotNow() {
        final PendingRequest one = arrivesFor(3);
        step();
        awaited.put(one.request(), 1); // the share of another backup, after new roles
        step();
        awaited.clear();
        slow.add(one);
        step();
        assertThat(begun).containsExactly(one);
        assertThat(answered).isEmpty();
        assertThat(waiting.isEmpty()).isTrue();
    }

    @Test
    void shouldForgetAll() {
        final PendingRequest first = arrivesFor(1);
        step();
        final PendingRequest second = arrives();
        final List<PendingRequest> all = new ArrayList<>();
        waiting.forEach(all::add);
        assertThat(all).containsExactly(first, second);
        waiting.clear();
        assertThat(waiting.isEmpty()).isTrue();
        step();
        assertThat(answered).isEmpty();
    }
}
