package org.rowankv.server.session;

/**
 * The sessions that were closed last, a fixed number of them. A session is closed when its client ends or when an outcome
 * stayed unknown until the deadline; so whatever is forgotten here was closed long before any copy of a request of it
 * that is still on its way. Guarded by its {@link SessionTable}.
 */
final class ClosedSessions {
    static final int REMEMBERED = 64;

    /** A ring; 0 where nothing was closed yet. */
    private long[] ids = new long[0];

    private int next;

    void add(long sessionId) {
        if (ids.length == 0) {
            ids = new long[REMEMBERED];
        }
        ids[next] = sessionId;
        next = (next + 1) % REMEMBERED;
    }

    boolean contains(long sessionId) {
        for (long id : ids) {
            if (id == sessionId) {
                return true;
            }
        }
        return false;
    }
}
