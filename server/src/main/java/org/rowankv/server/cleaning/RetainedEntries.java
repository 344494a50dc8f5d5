package org.rowankv.server.cleaning;

/**
 * Entries that a start must be able to find until the replicas agree, dead or not: the cleaner copies each as it is,
 * and reports its new address. A running server has none. Used by the cleaner's thread.
 */
public interface RetainedEntries {
    /** Of a running server. */
    RetainedEntries NONE = new RetainedEntries() {
        @Override
        public void begin(int segment) {}

        @Override
        public boolean isKept(long address) {
            return false;
        }

        @Override
        public void moved(long from, long to) {}

        @Override
        public void copiedDead(long copy, int length) {}
    };

    /** The cleaner begins with that segment: the following calls are about entries in it. */
    void begin(int segment);

    /** Whether the entry at that address must stay in the log. */
    boolean isKept(long address);

    /** The entry has another address now, and counts as dead at the old one. A no-op for an entry that is not kept. */
    void moved(long from, long to);

    /** A dead entry was copied; the copy counts as alive in its segment until the start ends. */
    void copiedDead(long copy, int length);
}
