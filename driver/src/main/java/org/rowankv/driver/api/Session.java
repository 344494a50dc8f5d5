package org.rowankv.driver.api;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.topology.Configuration;

/**
 * The seam between the native client and whatever carries its requests to the shards' primaries. Thread-safe.
 *
 * <p>A session does not retry and does not draw request ids: it carries one attempt, to the primary by the configuration that it has
 * then, and hands back what came of it. It promises that an attempt which answers anything but
 * {@link org.rowankv.protocol.Status#NO_REPLY} has the outcome it states: STALE_TERM, NOT_PRIMARY, NO_VERSION and UNREACHABLE say
 * that nothing was applied. It does not promise that an attempt which was answered NO_REPLY had no effect. Whether there is another
 * attempt is decided above it ({@link org.rowankv.driver.session.RetrySchedule}).
 */
public interface Session extends AutoCloseable {
    /** The configuration this session routes by. */
    Configuration configuration();

    /**
     * An attempt that went by the configuration with this term did not find the shard's primary: looks for a newer one, and does not
     * wait for it.
     *
     * @return whether there is a newer one now
     */
    default boolean seek(long knownTerm) {
        return configuration().term() > knownTerm;
    }

    /**
     * Whether an attempt may be answered NO_REPLY; always the same. If not, nothing is ever sent twice: requests then come to the
     * session as they are, mutations without request ids, and no server has to remember what it answered.
     */
    boolean needsRequestIds();

    /** Whether an attempt goes over a network: then many at once take hardly longer than one. */
    default boolean isRemote() {
        return false;
    }

    /** Connections that broke and were made again. */
    default long reconnects() {
        return 0;
    }

    /** Carries one attempt; returns when the answer is in the request. In process: on the calling thread, to the end. */
    void call(Request request);

    /**
     * As {@link #call(Request)}, for an operation that ends at a time, which cuts its last attempt. An attempt that was not sent by then
     * is answered UNREACHABLE.
     *
     * @param nowNs the time by the session's own clock, just read
     * @param untilNs when the operation ends
     */
    default void call(Request request, long nowNs, long untilNs) {
        call(request);
    }

    /**
     * As {@link #call(Request)} for each of them, in any order and at the same time where that is faster; each is another request.
     * Returns when all have their answers.
     */
    default void callAll(List<Request> requests) {
        requests.forEach(this::call);
    }

    /** As {@link #callAll(List)}, for operations that end at a time, as in {@link #call(Request, long, long)}. */
    default void callAll(List<Request> requests, long untilNs) {
        callAll(requests);
    }

    /**
     * As {@link #call(Request, long, long)}, beginning now, for a caller that does not wait.
     *
     * @param whenAnswered run once, by the calling thread or by one that others wait for: it must not block. If this method
     *     throws, it runs at most once: the caller of the method ends the operation, and ignores an answer
     */
    default void callAsync(Request request, long untilNs, Runnable whenAnswered) {
        call(request);
        whenAnswered.run();
    }

    /**
     * The live objects of a cache in one shard, in hash order from a position.
     *
     * @param position unsigned; 0 to begin, then {@link ScanPage#nextPosition()}
     * @param limit about how many objects a page holds; a page holds all objects of a position, so it can be a few more
     */
    ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues);

    /** Whether {@link #subscribe} tells of what changes. */
    default boolean streamsChanges() {
        return false;
    }

    /** As {@link RowanClient#subscribe}. */
    default ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        throw new UnsupportedOperationException("this store does not stream changes");
    }

    /** The caches that exist in the store. */
    Catalogue catalogue();

    @Override
    void close();
}
