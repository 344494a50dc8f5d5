package org.rowankv.driver.session;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Session;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;

/**
 * A session with one operation in flight at most, so that each sequence it gives out says that all smaller ones are
 * answered. Owned by the caller that borrowed it from {@link ClientSessionPool}.
 */
final class ClientSession {
    /** A request carries 48 bits. */
    private static final long LAST_SEQUENCE = (1L << 48) - 1;
    /** Sessions that it still wants to close. While a server does not answer, each mutation may leave one more. */
    static final int MAX_ABANDONED = 64;

    private long sessionId;
    private long lastSequence;
    /** The operation with the last sequence has no outcome, or an error ended its caller before that. */
    private boolean unanswered;

    private BitSet openShards = new BitSet();
    /** Where it was asked for and not refused. It may be open there although no answer came, or nobody lived to hear it. */
    private BitSet reachedShards = new BitSet();

    private final List<SessionCloser> abandoned = new ArrayList<>(0);
    private @Nullable RequestAttempts attempts;
    // Keeps two callers' lanes off one cache line; never read.
    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11;

    /** @param counters where the first session's sequences begin */
    ClientSession(long sessionId, CounterStarts counters) {
        this.sessionId = sessionId;
        this.lastSequence = counters.of(0L, LAST_SEQUENCE);
    }

    /** The attempts of its operation, made once. */
    RequestAttempts attempts(Session session, ClientSessionPool lanes, Clock clock) {
        RequestAttempts own = attempts;
        if (own == null) {
            own = new RequestAttempts(session, lanes, clock);
            attempts = own;
        }
        return own;
    }

    long sessionId() {
        return sessionId;
    }

    /** Whether its session has given out all sequences that requests can carry: it takes a new one. */
    boolean isSpent() {
        return lastSequence >= LAST_SEQUENCE;
    }

    long nextSequence() {
        unanswered = true;
        return ++lastSequence;
    }

    /** The operation with the last sequence has its outcome. */
    void answered() {
        unanswered = false;
    }

    /** Whether no sequence of its session may follow, since it would say that the last one is answered. */
    boolean isUnanswered() {
        return unanswered;
    }

    boolean isOpenAt(int shard) {
        return openShards.get(shard);
    }

    /** About to be opened there. Said before anything is sent: whatever becomes of the caller, it is closed some day. */
    void openingAt(int shard) {
        reachedShards.set(shard);
    }

    void openedAt(int shard) {
        openShards.set(shard);
    }

    /** It is known not to be open there. */
    void refusedAt(int shard) {
        reachedShards.clear(shard);
    }

    /** The shards at which the session is open, or may be. */
    BitSet reachedShards() {
        return reachedShards;
    }

    /** The session expired, or an operation of it was given up: nothing of it is used again but to close it. */
    void renew(long newSessionId) {
        if (!reachedShards.isEmpty()) {
            if (abandoned.size() == MAX_ABANDONED) {
                abandoned.remove(0); // shards that have not answered since: they close it when its lease is over
            }
            abandoned.add(new SessionCloser(sessionId, reachedShards));
            openShards = new BitSet();
            reachedShards = new BitSet();
        }
        sessionId = newSessionId;
        lastSequence = 0;
        unanswered = false;
    }

    /** The sessions that were given up and are not closed at every shard yet. */
    List<SessionCloser> abandoned() {
        return abandoned;
    }

    /** A session that was given up and may still be open at that shard; 0 when there is none. */
    long abandonedAt(int shard) {
        for (int i = 0; i < abandoned.size(); i++) {
            if (abandoned.get(i).openShards().get(shard)) {
                return abandoned.get(i).sessionId();
            }
        }
        return 0;
    }

    void closedAbandoned(long abandonedId, int shard) {
        for (Iterator<SessionCloser> sessions = abandoned.iterator(); sessions.hasNext(); ) {
            final SessionCloser session = sessions.next();
            if (session.sessionId() == abandonedId) {
                session.openShards().clear(shard);
                if (session.openShards().isEmpty()) {
                    sessions.remove();
                }
            }
        }
    }
}
