package org.rowankv.jcache;

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

    /** What the store is made of, for those who know it: null when it is no such thing. */
    default <T> @Nullable T unwrap(Class<T> type) {
        return type.isInstance(this) ? type.cast(this) : null;
    }

    /** Ends the store; called once, when nobody uses it any more. */
    @Override
    void close();
}
