package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.session.SessionOpening;
import org.rowankv.server.session.SessionTable;

/** What one mutation holds of the sessions of its shard, and gives back when it is over. Owned by one worker. */
final class SessionHold {
    /** The table whose session knows of this request as under way, or is being ended by it. */
    private @Nullable SessionTable entered;

    private long sessionId;
    /** That session is being ended. */
    private boolean ending;
    /** The table in which a session to be opened has a place. */
    private @Nullable SessionTable opening;

    private final long[] replaced = new long[1];

    /** The request is under way in that session, which the table has counted. */
    void enter(SessionTable table, long session) {
        entered = table;
        sessionId = session;
        ending = false;
    }

    /** The session is being ended, which the table has noted. */
    void ends(SessionTable table, long session) {
        entered = table;
        sessionId = session;
        ending = true;
    }

    /** Takes a place for a session; of another one, which {@link #sessionId} names, if the answer is REPLACES. */
    SessionOpening beginOpening(SessionTable table, long connection) {
        final SessionOpening begun = table.beginOpening(connection, replaced);
        if (begun != SessionOpening.WAITS) {
            opening = table;
        }
        if (begun == SessionOpening.REPLACES) {
            ends(table, replaced[0]);
        }
        return begun;
    }

    /** The session that was entered last, or is being ended. */
    long sessionId() {
        return sessionId;
    }

    /** Whether a session that is not open yet has a place. */
    boolean hasPlace() {
        return opening != null;
    }

    /** It is open. */
    void opened(long session, long connection) {
        final SessionTable table = opening;
        if (table != null) {
            opening = null;
            table.opened(session, connection);
        }
    }

    /** The session is no longer used or ended by this mutation. */
    void leave() {
        final SessionTable table = entered;
        if (table != null) {
            entered = null;
            if (ending) {
                table.cancelEnding(sessionId); // nothing if it has ended
            } else {
                table.leave(sessionId);
            }
        }
    }

    void end() {
        leave();
        final SessionTable table = opening;
        if (table != null) {
            opening = null;
            table.notOpened();
        }
    }
}
