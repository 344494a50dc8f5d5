package org.rowankv.jcache;

import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Clock;

/** An open store, of whatever kind: all that this layer knows of it. Thread-safe. */
public interface Store extends AutoCloseable {
    RowanClient client();

    /** What its acknowledgements promise, in one sentence for people. */
    String durability();

    /** The clock that statistics are timed by. */
    Clock clock();

    /** Ends the store; called once, when nobody uses it any more. */
    @Override
    void close();
}
