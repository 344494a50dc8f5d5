package org.rowankv.check.verify;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * A session that keeps values of reads, and answers every second read by one that the store proves current. Thread-safe.
 */
final class ValidatingSession implements ForwardingSession {
    private final Session below;
    private final Tally tally;
    private final Map<ByteBuffer, ValidatedValue<byte[]>> kept = new ConcurrentHashMap<>();
    private final AtomicLong reads = new AtomicLong();

    ValidatingSession(Session below, Tally tally) {
        this.below = below;
        this.tally = tally;
    }

    @Override
    public Session below() {
        return below;
    }

    @Override
    public void call(Request request) {
        if (request.operation() != Operation.GET
                || !request.needsValue()
                || request.accessTtlMs() != Ttl.UNCHANGED
                || (reads.incrementAndGet() & 1) == 0) {
            below.call(request);
            return;
        }
        final ByteBuffer key = ByteBuffer.allocate(Integer.BYTES + request.keyLength())
                .putInt(request.cacheId())
                .put(request.key(), request.keyOffset(), request.keyLength())
                .flip();
        final ValidatedValue<byte[]> before = kept.get(key);
        final byte[] current = before == null ? null : before.ifCurrent();
        if (before != null && current != null) {
            tally.count("disturbance.kept values current");
            System.arraycopy(current, 0, request.resultOf(current.length), 0, current.length);
            request.answer(Status.OK, ResultBits.EXISTED, before.objectVersion(), 0);
            return;
        }
        tally.count("disturbance.kept values not current");
        below.call(request.requestLocation(true));
        final ValidatedValue<byte[]> now = request.status() == Status.OK && request.hasResult()
                ? below.validated(request, Arrays.copyOf(request.result(), request.resultLength()), 1)
                : null;
        if (now != null) {
            kept.put(key, now);
        }
    }
}
