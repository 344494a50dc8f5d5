package org.rowankv.jcache.store;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Clock;

/** An open store, of whatever kind: all that this layer knows of it. Thread-safe. */
public interface Store extends AutoCloseable {
    RowanClient client();

    /** What its acknowledgements promise, in one sentence for people. */
    String durability();

    /** The clock that statistics are timed by. */
    Clock clock();

    /** What stands behind this store, if it is of that type: for those who look beneath the cache API; null if not. */
    <T> @Nullable T unwrap(Class<T> type);

    /** Ends the store; called once, when nobody uses it any more. */
    @Override
    void close();
}
