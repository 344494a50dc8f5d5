package org.rowankv.server.session;

/**
 * Sessions that were closed at this shard since it got its primary: the last ones by their ids, all others by one version.
 * Guarded by its {@link SessionTable}.
 *
 * <p>A closed session must not be opened again, since its completions are gone: late copies of its mutations would take
 * effect once more. An opening carries a version that the shard had given out before the client sent its first copy, so
 * that version is smaller than the one of the entry that opened the session. Hence a copy whose version is at least
 * {@link #forgottenUpTo} is of a session that was never opened, is open, or is still among the remembered ids. No time is
 * assumed: a delayed copy may be of any age.
 */
final class ClosedSessions {
    /** More of them means fewer openings that have to be sent again; correctness does not depend on it. */
    static final int REMEMBERED = 64;

    /** Two rings in step; 0 where nothing was closed yet. */
    private long[] ids = new long[0];

    private long[] openedAt = new long[0];
    private int next;
    /** Invariant: ≥ the version of the entry that opened any session that was closed and is not among the ids. */
    private long forgottenUpTo;

    /** @param version of the entry that opened the session; 0 if it was opened under an earlier primary */
    void add(long sessionId, long version) {
        if (ids.length == 0) {
            ids = new long[REMEMBERED];
            openedAt = new long[REMEMBERED];
        }
        forgottenUpTo = Math.max(forgottenUpTo, openedAt[next]);
        ids[next] = sessionId;
        openedAt[next] = version;
        next = (next + 1) % REMEMBERED;
    }

    /** Whether an opening may be a late copy, of a session that was closed. */
    boolean mayHold(long sessionId, long asOf) {
        return asOf < forgottenUpTo || contains(sessionId);
    }

    /** Whether the session is among those that are remembered. */
    boolean contains(long sessionId) {
        for (long id : ids) {
            if (id == sessionId) {
                return true;
            }
        }
        return false;
    }
}
