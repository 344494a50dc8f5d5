package org.rowankv.check.verify;

import java.util.List;
import java.util.Map;
import org.rowankv.driver.api.Session;

/** The store that a run uses, and its fault operations. */
public interface StoreUnderTest extends AutoCloseable {
    Session session();

    int servers();

    /** Cuts the link: nothing more of that sender lands, until the store reconnects them by itself. */
    void fenceLink(int from, int to);

    /** Counters of the store itself, for the table. */
    Map<String, Long> counters();

    /** Internal failures of the store so far, which should never occur: one line each. */
    List<String> failures();

    /** Closes the store and returns the differences between its replicas, one per line. */
    List<String> closeAndCompareReplicas();

    @Override
    void close();
}
