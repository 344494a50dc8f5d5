package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.topology.Configuration;

/**
 * The seam between the native client and a transport of requests to the shards' primaries. Thread-safe.
 *
 * <p>A session neither retries nor assigns request ids. It carries one attempt to the primary by its current
 * configuration, and returns the outcome. Any status but {@link org.rowankv.protocol.Status#NO_REPLY} is final:
 * STALE_TERM, NOT_PRIMARY, NO_VERSION and UNREACHABLE state that nothing was applied. An attempt that ends with
 * NO_REPLY may have had an effect. {@link org.rowankv.driver.session.RetrySchedule} decides on further attempts.
 */
public interface Session extends AutoCloseable {
    /** The configuration by which this session routes. */
    Configuration configuration();

    /**
     * Starts a search for a newer configuration than one whose primary was not reachable; does not block.
     *
     * @return whether a newer configuration is present
     */
    default boolean seek(long knownTerm) {
        return configuration().term() > knownTerm;
    }

    /**
     * Whether an attempt may end with NO_REPLY; constant. If false, requests are never sent twice: mutations carry no
     * request ids, and servers need not store completions.
     */
    boolean needsRequestIds();

    /** Whether attempts go over a network; if so, many concurrent attempts take little longer than one. */
    default boolean isRemote() {
        return false;
    }

    /** Connections re-established after a break. */
    default long reconnects() {
        return 0;
    }

    /** Carries one attempt; on return the response is in the request. In process it executes on the calling thread. */
    void call(Request request);

    /**
     * As {@link #call(Request)}, for an operation with a deadline, which cuts off its last attempt. An attempt not sent
     * by then ends with UNREACHABLE.
     *
     * @param nowNs the current time of the session's clock
     * @param untilNs deadline of the operation
     */
    default void call(Request request, long nowNs, long untilNs) {
        call(request);
    }

    /**
     * As {@link #call(Request)} for each of the distinct requests, in any order, concurrently where that is faster.
     * Returns when all have their responses.
     */
    default void callAll(List<Request> requests) {
        requests.forEach(this::call);
    }

    /** As {@link #callAll(List)}, for operations with a deadline, as in {@link #call(Request, long, long)}. */
    default void callAll(List<Request> requests, long untilNs) {
        callAll(requests);
    }

    /**
     * As {@link #call(Request, long, long)}, starting now, without blocking.
     *
     * @param whenAnswered runs once, on the calling thread or on one that serves other callers: it must not block. If
     *     this method throws, it runs at most once: the caller ends the operation and ignores a response
     */
    default void callAsync(Request request, long untilNs, Runnable whenAnswered) {
        call(request);
        whenAnswered.run();
    }

    /**
     * The live objects of a cache in one shard, in hash order from a position.
     *
     * @param position unsigned; 0 for the start, then {@link ScanPage#nextPosition()}
     * @param limit approximate number of objects per page; a page contains all objects of a position, so it may exceed
     *     this
     */
    ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues);

    /** Whether {@link #subscribe} is supported. */
    default boolean streamsChanges() {
        return false;
    }

    /** As {@link RowanClient#subscribe}. */
    default ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        throw new UnsupportedOperationException("this store does not stream changes");
    }

    /**
     * Keeps the decoded value of a read with what proves it current; null if this session cannot.
     *
     * @param read with {@link Request#requestLocation}, answered by this session, with an object, and not used since
     * @param bytes of heap, for {@link ValidatedValue#bytes}
     */
    default <V> @Nullable ValidatedValue<V> validated(Request read, V value, int bytes) {
        return null;
    }

    /** The caches of the store. */
    Catalogue catalogue();

    @Override
    void close();
}
