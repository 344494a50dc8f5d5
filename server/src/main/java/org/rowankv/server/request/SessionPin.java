package org.rowankv.server.request;

import org.jspecify.annotations.Nullable;
import org.rowankv.server.session.SessionOpening;
import org.rowankv.server.session.SessionTable;

/** The pins of one mutation on its shard's sessions, released when it ends. Owned by one worker. */
final class SessionPin {
    /** The table that counts this request as in flight, or whose session it is ending. */
    private @Nullable SessionTable pinnedTable;

    private long sessionId;
    /** The sessions of that table that it is ending: the first {@code endingCount}. */
    private long[] ending = new long[1];

    private int endingCount;
    /** The table that holds a slot for the session to open. */
    private @Nullable SessionTable openingTable;

    /** The request is in flight in that session, and the table has counted it. */
    void enter(SessionTable table, long session) {
        pinnedTable = table;
        sessionId = session;
        endingCount = 0;
    }

    /**
     * Begins to end those of the table's sessions that are unused for so many ticks; returns their number.
     *
     * @param count of the ids, at the beginning of the array
     */
    int endUnused(SessionTable table, long[] ids, int count, int ticks) {
        if (ending.length < count) {
            ending = new long[count];
        }
        endingCount = 0;
        pinnedTable = table;
        for (int i = 0; i < count; i++) {
            if (table.beginEnding(ids[i], ticks)) {
                ending[endingCount++] = ids[i];
            }
        }
        return endingCount;
    }

    /** Takes a slot for a session. On REPLACES it is the slot of another session, which is then {@link #ending}. */
    SessionOpening beginOpening(SessionTable table, long connection) {
        final SessionOpening begun = table.beginOpening(connection, ending);
        if (begun != SessionOpening.WAITS) {
            openingTable = table;
        }
        if (begun == SessionOpening.REPLACES) {
            pinnedTable = table;
            endingCount = 1;
        }
        return begun;
    }

    /** One of the sessions that are ending. */
    long ending(int number) {
        return ending[number];
    }

    /** Whether a slot is held for a session not open yet. */
    boolean hasSlot() {
        return openingTable != null;
    }

    /** The session is open. */
    void opened(long session, long connection) {
        final SessionTable table = openingTable;
        if (table != null) {
            openingTable = null;
            table.opened(session, connection);
        }
    }

    /** Releases the session, in use or ending. */
    void leave() {
        final SessionTable table = pinnedTable;
        if (table != null) {
            pinnedTable = null;
            if (endingCount == 0) {
                table.leave(sessionId);
            }
            while (endingCount > 0) {
                table.cancelEnding(ending[--endingCount]); // no-op if it has ended
            }
        }
    }

    void end() {
        leave();
        final SessionTable table = openingTable;
        if (table != null) {
            openingTable = null;
            table.notOpened();
        }
    }
}
