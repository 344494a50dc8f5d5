package org.rowankv.driver.api;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.topology.Configuration;

/**
 * Base of sessions that forward to another one. Closing it does nothing: the owner of the other session closes that.
 */
public interface ForwardingSession extends Session {
    /** The session that receives the calls. */
    Session below();

    @Override
    default Configuration configuration() {
        return below().configuration();
    }

    @Override
    default boolean seek(long knownTerm) {
        return below().seek(knownTerm);
    }

    @Override
    default boolean needsRequestIds() {
        return below().needsRequestIds();
    }

    @Override
    default boolean isRemote() {
        return below().isRemote();
    }

    @Override
    default long reconnects() {
        return below().reconnects();
    }

    @Override
    default void call(Request request) {
        below().call(request);
    }

    @Override
    default ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
        return below().scan(cacheId, shard, position, limit, withValues);
    }

    @Override
    default boolean streamsChanges() {
        return below().streamsChanges();
    }

    @Override
    default ChangeSubscription subscribe(
            int cacheId, boolean oldValues, @Nullable StreamPosition from, ChangeListener listener) {
        return below().subscribe(cacheId, oldValues, from, listener);
    }

    @Override
    default <V> @Nullable ValidatedValue<V> validated(Request read, V value, int bytes) {
        return below().validated(read, value, bytes);
    }

    @Override
    default Catalogue catalogue() {
        return below().catalogue();
    }

    @Override
    default void close() {
        // The owner of the session below closes it.
    }
}
