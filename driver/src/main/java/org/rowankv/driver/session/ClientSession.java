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
 * A session with at most one operation in flight, so each sequence it assigns implies that all smaller ones are
 * answered. Owned by the caller that acquired it from {@link ClientSessionPool}.
 */
final class ClientSession {
    /** A request carries 48 bits. */
    private static final long LAST_SEQUENCE = (1L << 48) - 1;
    /** Limit of sessions still to close. While a server is unresponsive, each mutation may add one. */
    static final int MAX_ABANDONED = 64;

    private long sessionId;
    private long lastSequence;
    /** The operation with the last sequence has no outcome, or an error ended its caller first. */
    private boolean unanswered;

    private BitSet openShards = new BitSet();
    /** Shards where opening was requested and not refused. It may be open there without a response. */
    private BitSet reachedShards = new BitSet();

    private final List<AbandonedSession> abandoned = new ArrayList<>(0);
    private @Nullable RequestAttempts attempts;
    // Padding against false sharing between callers; never read.
    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11;

    /** @param counters first sequences of the first session */
    ClientSession(long sessionId, CounterStarts counters) {
        this.sessionId = sessionId;
        this.lastSequence = counters.of(0L, LAST_SEQUENCE);
    }

    /** The attempts of its operation; created once. */
    RequestAttempts attempts(Session session, ClientSessionPool pool, Clock clock) {
        RequestAttempts own = attempts;
        if (own == null) {
            own = new RequestAttempts(session, pool, clock);
            attempts = own;
        }
        return own;
    }

    long sessionId() {
        return sessionId;
    }

    /** Whether the session has assigned all sequences a request can carry; it then needs a new id. */
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

    /** Whether the session must assign no further sequence, which would imply that the last one is answered. */
    boolean isUnanswered() {
        return unanswered;
    }

    boolean isOpenAt(int shard) {
        return openShards.get(shard);
    }

    /**
     * Records an opening before it is sent, so that the session is closed there eventually, even if the caller fails.
     */
    void openingAt(int shard) {
        reachedShards.set(shard);
    }

    void openedAt(int shard) {
        openShards.set(shard);
    }

    /** Records that the session is not open there. */
    void refusedAt(int shard) {
        reachedShards.clear(shard);
    }

    /** Shards at which the session is or may be open. */
    BitSet reachedShards() {
        return reachedShards;
    }

    /** Starts a new session, after expiry or an abandoned operation: the old one is only closed. */
    void renew(long newSessionId) {
        if (!reachedShards.isEmpty()) {
            if (abandoned.size() == MAX_ABANDONED) {
                abandoned.remove(0); // its unresponsive shards close it when its lease expires
            }
            abandoned.add(new AbandonedSession(sessionId, reachedShards));
            openShards = new BitSet();
            reachedShards = new BitSet();
        }
        sessionId = newSessionId;
        lastSequence = 0;
        unanswered = false;
    }

    /** Abandoned sessions that some shard still has to close. */
    List<AbandonedSession> abandoned() {
        return abandoned;
    }

    /** An abandoned session that may still be open at that shard; 0 if none. */
    long abandonedAt(int shard) {
        for (int i = 0; i < abandoned.size(); i++) {
            if (abandoned.get(i).openShards().get(shard)) {
                return abandoned.get(i).sessionId();
            }
        }
        return 0;
    }

    void closedAbandoned(long abandonedId, int shard) {
        for (Iterator<AbandonedSession> sessions = abandoned.iterator(); sessions.hasNext(); ) {
            final AbandonedSession session = sessions.next();
            if (session.sessionId() == abandonedId) {
                session.openShards().clear(shard);
                if (session.openShards().isEmpty()) {
                    sessions.remove();
                }
            }
        }
    }
}
