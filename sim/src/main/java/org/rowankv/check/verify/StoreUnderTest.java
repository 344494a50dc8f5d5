package org.rowankv.check.verify;

import java.util.List;
import java.util.Map;
import org.rowankv.driver.api.Session;

/** The store that a run works on, and what can be done to it. */
public interface StoreUnderTest extends AutoCloseable {
    Session session();

    int servers();

    /** Cuts the link: nothing more of that sender lands, until the store connects them again by itself. */
    void fenceLink(int from, int to);

    /** Counts of what the store itself noticed, for the table. */
    Map<String, Long> counters();

    /** What went wrong inside the store so far, and should never: one line each. */
    List<String> failures();

    /** Ends the store and says, one per line, where its replicas do not hold the same objects. */
    List<String> closeAndCompareReplicas();

    @Override
    void close();
}
