package org.rowankv.server.embedded;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;
import org.rowankv.server.frontend.RequestBackend;

/**
 * Backend stub: answers every request with its own number, is the primary on request of the test, and hangs on request.
 */
final class FakeServer implements RequestBackend {
    static final byte[] SCANNED = {1};

    final int id;
    volatile boolean primary;
    volatile boolean serving = true;
    /** Requests of these operations are never answered. */
    final Set<Operation> hanging = ConcurrentHashMap.newKeySet();
    /** Requests that hang, or hung. */
    final AtomicInteger hung = new AtomicInteger();

    final AtomicInteger answered = new AtomicInteger();
    /** The answer to every request that does not hang. */
    volatile Status answer = Status.OK;
    /** The value of the only object in scans, under {@link #SCANNED}, and in answers to requests; null: none. */
    volatile byte @Nullable [] value;

    FakeServer(int id) {
        this.id = id;
    }

    @Override
    public int serverId() {
        return id;
    }

    @Override
    public PollableCalls calls(int loop, int loops) {
        return this::callOf;
    }

    private PollableCall callOf(Request request) {
        return new StubCall() {
            private boolean counted;

            @Override
            public boolean step() {
                if (hanging.contains(request.operation())) {
                    if (!counted) {
                        counted = true;
                        hung.incrementAndGet();
                    }
                    return false;
                }
                answered.incrementAndGet();
                final byte[] result = value;
                request.noResult();
                if (result != null && answer == Status.OK) {
                    System.arraycopy(result, 0, request.resultOf(result.length), 0, result.length);
                }
                request.answer(answer, 0, 100 + id, 0);
                return true;
            }
        };
    }

    @Override
    public boolean isPrimary(int shard) {
        return primary;
    }

    @Override
    public boolean isServing() {
        return serving;
    }

    @Override
    public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
        final byte[] scanned = value;
        if (scanned != null) {
            visitor.onObject(SCANNED, withValues ? scanned : null, 1);
        }
        return 0;
    }
}
