package org.rowankv.sim;

/**
 * Something that goes wrong, once so many operations were begun.
 *
 * @param afterOperations when
 * @param a what the kind says, drawn from 0 to 999
 * @param b as well
 */
record PlannedFault(int afterOperations, Kind kind, int a, int b) {
    enum Kind {
        /** The process ends at some named point soon; a by how many points later. */
        CRASH,
        /** The store is closed, and opened again. */
        REOPEN,
        /** A server cuts another one off its backup log. */
        FENCE,
        /** A server's agents get no turn for a while. */
        PAUSE,
        /** A client goes away, closing its sessions, and another one comes. */
        LEAVE,
        /** A caller stops at the next named place of an append, and is cut off there. */
        CUT_OFF
    }

    @Override
    public String toString() {
        return kind + " after " + afterOperations + " operations (" + a + ", " + b + ")";
    }
}
