package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.session.SessionOpening;
import org.rowankv.server.session.SessionTable;

/** What one mutation holds of the sessions of its shard, and gives back when it is over. Owned by one worker. */
final class SessionPin {
    /** The table whose session knows of this request as under way, or is being ended by it. */
    private @Nullable SessionTable entered;

    private long sessionId;
    /** The sessions of that table that are being ended by it: the first ones. */
    private long[] ending = new long[1];

    private int endingCount;
    /** The table in which a session to be opened has a place. */
    private @Nullable SessionTable opening;

    /** The request is under way in that session, which the table has counted. */
    void enter(SessionTable table, long session) {
        entered = table;
        sessionId = session;
        endingCount = 0;
    }

    /**
     * Begins to end those of the table's sessions that were not used for so many ticks; how many they are.
     *
     * @param count of the ids, at the beginning of the array
     */
    int endUnused(SessionTable table, long[] ids, int count, int ticks) {
        if (ending.length < count) {
            ending = new long[count];
        }
        endingCount = 0;
        entered = table;
        for (int i = 0; i < count; i++) {
            if (table.beginEnding(ids[i], ticks)) {
                ending[endingCount++] = ids[i];
            }
        }
        return endingCount;
    }

    /** Takes a place for a session; of another one, which is being {@link #ending} then, if the answer is REPLACES. */
    SessionOpening beginOpening(SessionTable table, long connection) {
        final SessionOpening begun = table.beginOpening(connection, ending);
        if (begun != SessionOpening.WAITS) {
            opening = table;
        }
        if (begun == SessionOpening.REPLACES) {
            entered = table;
            endingCount = 1;
        }
        return begun;
    }

    /** One of the sessions that are being ended. */
    long ending(int number) {
        return ending[number];
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
            if (endingCount == 0) {
                table.leave(sessionId);
            }
            while (endingCount > 0) {
                table.cancelEnding(ending[--endingCount]); // nothing if it has ended
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
