package org.rowankv.check.verify;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/** A correct store in memory, except for one planted bug: it measures what the workload can find. Thread-safe. */
final class ModelStore implements StoreUnderTest, Session {
    private static final int NOW_AND_THEN = 997;

    private record Read(long version, byte[] value) {}

    private final ModelSession model = new ModelSession(SystemClock.INSTANCE);
    private final Map<Long, AtomicLong> lanes = new ConcurrentHashMap<>();
    private final Map<String, Read> oldReads = new ConcurrentHashMap<>();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong inventedSessions = new AtomicLong(1L << 62);
    private final Bug bug;

    ModelStore(Bug bug) {
        this.bug = bug;
    }

    @Override
    public Session session() {
        return this;
    }

    @Override
    public boolean needsRequestIds() {
        return true;
    }

    @Override
    public void call(Request request) {
        if (!request.operation().isMutation()) {
            model.call(request);
            if (request.operation() == Operation.GET && request.status() == Status.OK) {
                spoilRead(request);
            }
            return;
        }
        final AtomicLong newest = lanes.computeIfAbsent(request.sessionId(), id -> new AtomicLong());
        if (bug == Bug.DUPLICATE_CHECK_OUTSIDE_LOCK) {
            // Both of two attempts can pass here before either is applied.
            final boolean known = newest.getAndAccumulate(request.sequence(), Math::max) >= request.sequence();
            Thread.yield();
            if (known) {
                model.call(request);
            } else {
                applyUnchecked(request);
            }
            return;
        }
        synchronized (newest) {
            if (request.sequence() < newest.get() && bug != Bug.LATE_ATTEMPTS_ACCEPTED) {
                request.answer(Status.SESSION_EXPIRED, 0, 0, 0);
                return;
            }
            newest.accumulateAndGet(request.sequence(), Math::max);
            mutate(request);
        }
    }

    private void mutate(Request request) {
        final boolean now = calls.incrementAndGet() % NOW_AND_THEN == 0;
        if (bug == Bug.NO_DUPLICATE_CHECK) {
            applyUnchecked(request);
        } else if (bug == Bug.LOST_UPDATES && now && request.condition() == Condition.IF_VERSION) {
            final long expected = request.expectedVersion();
            request.when(Condition.ALWAYS);
            model.call(request);
            request.when(Condition.IF_VERSION, expected);
            if (request.status() == Status.OK) {
                request.answer(Status.OK, request.bits(), request.version(), expected);
            }
        } else if (now
                && ((bug == Bug.RESURRECTION && request.operation() == Operation.DELETE)
                        || (bug == Bug.LOST_WRITES && request.operation() == Operation.PUT))) {
            final Request other = RequestCopy.of(request);
            final Request key = new Request().get(request.cacheId(), request.key(), 0, request.keyLength());
            key.placed(request.hash(), request.shard());
            model.call(key);
            model.call(request);
            if (request.status() == Status.OK && key.status() == Status.OK) {
                other.put(request.cacheId(), key.key(), 0, key.keyLength(), key.resultBytes(), 0, key.resultLength());
                other.placed(request.hash(), request.shard());
                applyUnchecked(other);
            }
        } else {
            model.call(request);
        }
    }

    private void applyUnchecked(Request request) {
        final long session = request.sessionId();
        final long sequence = request.sequence();
        final Request open = new Request().openSession(request.shard(), inventedSessions.incrementAndGet(), 0);
        model.call(open);
        request.identified(open.sessionId(), 1, 0);
        model.call(request);
        request.identified(session, sequence, 0);
    }

    private void spoilRead(Request request) {
        final boolean now = calls.incrementAndGet() % NOW_AND_THEN == 0;
        if (bug == Bug.TORN_VALUES && now && request.resultLength() > 0) {
            request.result()[request.resultLength() / 2] ^= 1;
        } else if (bug == Bug.STALE_READS) {
            final String key = new String(request.key(), java.nio.charset.StandardCharsets.UTF_8);
            final Read old = oldReads.get(key);
            if (now && old != null) {
                System.arraycopy(old.value(), 0, request.resultOf(old.value().length), 0, old.value().length);
                request.answer(Status.OK, request.bits(), old.version(), 0);
            } else if (old == null || calls.get() % 7 == 0) {
                oldReads.put(key, new Read(request.version(), request.resultBytes()));
            }
        }
    }

    @Override
    public int servers() {
        return 3;
    }

    @Override
    public void fenceLink(int from, int to) {}

    @Override
    public Map<String, Long> counters() {
        return Map.of();
    }

    @Override
    public List<String> failures() {
        return List.of();
    }

    @Override
    public List<String> closeAndCompareReplicas() {
        return List.of();
    }

    @Override
    public Configuration configuration() {
        return model.configuration();
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        return model.scan(cacheId, shard, position, limit, withValues);
    }

    @Override
    public Catalogue catalogue() {
        return model.catalogue();
    }

    @Override
    public void close() {
        model.close();
    }
}
