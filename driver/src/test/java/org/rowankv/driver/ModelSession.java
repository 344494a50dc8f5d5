package org.rowankv.driver;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.topology.Configuration;

/**
 * Reference model of a session: one map per shard under one lock, on the calling thread. Tests compare real sessions
 * with it, and tests of higher layers use it as a stand-in. Thread-safe.
 *
 * <p>It keeps every tombstone, and the last completion of each session; it neither replicates nor persists. {@link
 * #interceptWith} lets a test lose or refuse requests and replies.
 */
public final class ModelSession implements Session {
    /** Decides the fate of an attempt; called before and after it is applied, on the calling thread. */
    public interface Interceptor {
        /** A status to return without applying the attempt, or OK to continue. */
        default Status refuse(Request request) {
            return Status.OK;
        }

        /** Whether the reply of an applied attempt is lost. */
        default boolean losesReply(Request request) {
            return false;
        }
    }

    private static final Interceptor NONE = new Interceptor() {};

    private final Configuration configuration;
    private final ModelCatalogue catalogue = new ModelCatalogue(this::forget);
    private final ModelShard[] shards;
    private final Map<Long, ModelCompletion> completions = new ConcurrentHashMap<>();
    private final AtomicLong calls = new AtomicLong();
    private volatile Interceptor interceptor = NONE;
    private boolean needsRequestIds = true;
    private volatile boolean remote;
    private volatile boolean closed;

    public ModelSession(Clock clock) {
        this(clock, 8);
    }

    public ModelSession(Clock clock, int shardCount) {
        this.configuration = Configuration.initial(1, 0x5eed, 1, 1, shardCount, List.of(1L));
        this.shards = new ModelShard[shardCount];
        for (int i = 0; i < shardCount; i++) {
            shards[i] = new ModelShard(clock);
        }
    }

    /** Promises clients created later that no reply is lost. */
    public ModelSession promiseReplies() {
        needsRequestIds = false;
        return this;
    }

    /** Declares from now on that a call costs a network round trip. */
    public void beFarAway() {
        remote = true;
    }

    @Override
    public boolean isRemote() {
        return remote;
    }

    /** Replaces the interceptor of all later attempts. */
    public void interceptWith(Interceptor newInterceptor) {
        interceptor = Objects.requireNonNull(newInterceptor, "newInterceptor");
    }

    /** Attempts so far, including lost and refused ones. */
    public long calls() {
        return calls.get();
    }

    @Override
    public Configuration configuration() {
        return configuration;
    }

    @Override
    public Catalogue catalogue() {
        return catalogue;
    }

    @Override
    public boolean needsRequestIds() {
        return needsRequestIds;
    }

    @Override
    public void call(Request request) {
        calls.incrementAndGet();
        request.clearAnswer();
        final Interceptor current = interceptor;
        final Status refusal = current.refuse(request);
        if (closed) {
            request.answer(Status.CLOSED, 0, 0, 0);
        } else if (refusal != Status.OK) {
            request.answer(refusal, 0, 0, 0);
        } else {
            apply(request);
            if (current.losesReply(request)) {
                request.clearAnswer();
                request.answer(Status.NO_REPLY, 0, 0, 0);
            }
        }
    }

    private void apply(Request request) {
        final Operation operation = request.operation();
        if (operation == Operation.OPEN_SESSION) {
            completions.putIfAbsent(request.sessionId(), ModelCompletion.NONE);
            request.answer(Status.OK, 0, 0, 0);
        } else if (operation == Operation.CLOSE_SESSION) {
            completions.remove(request.sessionId());
            request.answer(Status.OK, 0, 0, 0);
        } else if (!catalogue.knows(request.cacheId())) {
            request.answer(Status.UNKNOWN_CACHE, 0, 0, 0);
        } else if (operation.isMutation() && request.sessionId() != 0) {
            applyOnce(request);
        } else {
            shards[request.shard()].apply(request);
        }
    }

    private void applyOnce(Request request) {
        final ModelCompletion known = completions.get(request.sessionId());
        if (known == null) {
            request.answer(Status.SESSION_EXPIRED, 0, 0, 0);
        } else if (known.sequence() == request.sequence()) {
            known.replay(request);
        } else {
            shards[request.shard()].apply(request);
            completions.put(request.sessionId(), ModelCompletion.of(request));
        }
    }

    @Override
    public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        if (closed) {
            throw new RowanException(Status.CLOSED, "the store is closed");
        }
        if (!catalogue.knows(cacheId)) {
            throw new RowanException(Status.UNKNOWN_CACHE, "the cache with id " + cacheId + " was destroyed");
        }
        return shards[shard].scan(cacheId, position, limit, withValues);
    }

    private void forget(int cacheId) {
        for (ModelShard shard : shards) {
            shard.forget(cacheId);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
