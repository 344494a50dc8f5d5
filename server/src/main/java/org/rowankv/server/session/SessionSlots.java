package org.rowankv.server.session;

/**
 * The slots for open sessions in one table of a primary, and the choice of the session to replace. Bounds the sessions'
 * space in an area, and their memory, whatever clients do. Guarded by its {@link SessionTable}.
 */
final class SessionSlots {
    /** A connection with this fraction of a table's sessions replaces one of its own. */
    private static final int FAIR_SHARES = 4;

    private int mostOpen = Integer.MAX_VALUE;
    /**
     * Slots held by sessions that are being opened. Invariant: a session is opened only with its own slot, and {@code
     * open + opening − replaced ≤ mostOpen} before it took that.
     */
    private int opening;
    /** Open sessions that are ending for those. */
    private int replaced;

    void limit(int newMostOpen) {
        mostOpen = newMostOpen;
    }

    /** @param victim receives the session to end first, which is marked */
    SessionOpening begin(LongMap<OpenSession> sessions, long connection, long[] victim) {
        if (sessions.size() + opening - replaced < mostOpen) {
            opening++;
            return SessionOpening.HAS_SLOT;
        }
        final long sessionId = chooseVictim(sessions, connection);
        final OpenSession session = sessionId == 0 ? null : sessions.get(sessionId);
        if (session == null) {
            return SessionOpening.WAITS;
        }
        session.ending = true;
        session.replaced = true;
        replaced++;
        opening++;
        victim[0] = sessionId;
        return SessionOpening.REPLACES;
    }

    /** The session unused for longest without a request in flight; 0 if there is none. */
    private static long chooseVictim(LongMap<OpenSession> sessions, long connection) {
        int ofConnection = 0;
        long own = 0;
        long any = 0;
        long ownLastUse = Long.MAX_VALUE;
        long anyLastUse = Long.MAX_VALUE;
        for (int slot = 0; slot < sessions.slots(); slot++) {
            final long sessionId = sessions.keyAt(slot);
            final OpenSession session = sessionId == 0 ? null : sessions.get(sessionId);
            if (session == null) {
                continue;
            }
            final boolean isOwn = session.connection == connection;
            ofConnection += isOwn ? 1 : 0;
            if (session.requests > 0 || session.ending) {
                continue;
            }
            if (session.lastUse < anyLastUse) {
                anyLastUse = session.lastUse;
                any = sessionId;
            }
            if (isOwn && session.lastUse < ownLastUse) {
                ownLastUse = session.lastUse;
                own = sessionId;
            }
        }
        return own != 0 && ofConnection * FAIR_SHARES >= sessions.size() ? own : any;
    }

    /** The opening is over: the session is open, or is not opened. */
    void end() {
        opening--;
    }

    /** A session has ended, or its end is cancelled. */
    void release(OpenSession session) {
        if (session.replaced) {
            session.replaced = false;
            replaced--;
        }
    }
}
