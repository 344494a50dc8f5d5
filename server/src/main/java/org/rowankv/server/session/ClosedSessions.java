package org.rowankv.server.session;

/**
 * Sessions that were closed at this shard since it got its primary: the last ones by their ids, all others by one version.
 * Guarded by its {@link SessionTable}.
 *
 * <p>A closed session must not be opened again, since its completions are gone: late copies of its mutations would take
 * effect once more. An opening carries a version that the shard had given out before the client sent its first copy. A
 * client sends no opening of a session after the first mutation of it. So that version is smaller than the one of an entry
 * that closes the session after a mutation. Hence a copy whose version is at least {@link #forgottenUpTo} is of a session
 * that had no mutation and was closed, if it was closed at all, or it is of one among the remembered ids. The version of the
 * entry that opened the session would not do: a client whose first opening got no answer may send a second one, with a newer
 * version, which finds the session open. No time is assumed: a delayed copy may be of any age.
 */
final class ClosedSessions {
    /** More of them means fewer openings that have to be sent again; correctness does not depend on it. */
    static final int REMEMBERED = 64;

    /** Two rings in step; 0 where nothing was closed yet. */
    private long[] ids = new long[0];

    private long[] closedAt = new long[0];
    private int next;
    /** Invariant: ≥ the version of the entry that closed any session that was closed and is not among the ids. */
    private long forgottenUpTo;

    /** @param version of the entry that closed the session */
    void add(long sessionId, long version) {
        if (ids.length == 0) {
            ids = new long[REMEMBERED];
            closedAt = new long[REMEMBERED];
        }
        forgottenUpTo = Math.max(forgottenUpTo, closedAt[next]);
        ids[next] = sessionId;
        closedAt[next] = version;
        next = (next + 1) % REMEMBERED;
    }

    /** Whether an opening may be a late copy, of a session that was closed. */
    boolean mayHold(long sessionId, long asOf) {
        return asOf < forgottenUpTo || contains(sessionId);
    }

    /** Whether the session is among those that are remembered. */
    private boolean contains(long sessionId) {
        return isClosedBehind(sessionId, 0);
    }

    /** Whether the session is remembered as closed by an entry with a greater version. */
    boolean isClosedBehind(long sessionId, long version) {
        for (int i = 0; i < ids.length; i++) {
            if (ids[i] == sessionId && closedAt[i] > version) {
                return true;
            }
        }
        return false;
    }
}
