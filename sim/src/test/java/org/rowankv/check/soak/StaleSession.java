package org.rowankv.check.soak;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/** A session that returns a wrong reply every N reads or writes, in one way. */
final class StaleSession implements ForwardingSession {
    enum Lie {
        /** Repeats the reply to the first read of the key. */
        OLD_VALUE,
        NOTHING,
        FLIPPED_BIT,
        /** Acknowledges a write without performing it. */
        LOST_WRITE
    }

    private static final int ONE_IN = 500;
    private static final int MOST_KEYS = 20_000;

    private final Session below;
    private final Lie lie;
    private final AtomicInteger requests = new AtomicInteger();
    private final Map<ByteBuffer, byte[]> first = new ConcurrentHashMap<>();

    StaleSession(Session below, Lie lie) {
        this.below = below;
        this.lie = lie;
    }

    @Override
    public Session below() {
        return below;
    }

    @Override
    public void call(Request request) {
        final boolean lies = requests.incrementAndGet() % ONE_IN == 0;
        if (lie == Lie.LOST_WRITE && lies && request.operation() == Operation.PUT) {
            request.answer(Status.OK, 0, 1, 0);
            return;
        }
        below.call(request);
        if (request.operation() != Operation.GET || request.status() != Status.OK || !request.hasResult()) {
            return;
        }
        switch (lie) {
            case OLD_VALUE -> {
                final byte[] old = first.size() < MOST_KEYS
                        ? first.putIfAbsent(ByteBuffer.wrap(request.key().clone()), request.resultBytes())
                        : first.get(ByteBuffer.wrap(request.key()));
                if (lies && old != null) {
                    System.arraycopy(old, 0, request.resultOf(old.length), 0, old.length);
                }
            }
            case NOTHING -> {
                if (lies) {
                    request.noResult();
                    request.answer(Status.NOT_FOUND, 0, request.version(), 0);
                }
            }
            case FLIPPED_BIT -> {
                if (lies) {
                    request.result()[request.resultLength() - 1] ^= 4;
                }
            }
            case LOST_WRITE -> {
                // Reads are correct.
            }
        }
    }
}
