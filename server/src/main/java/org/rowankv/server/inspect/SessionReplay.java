package org.rowankv.server.inspect;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.rowankv.server.inspect.StoredEntry.Place;
import org.rowankv.server.log.EntryType;

/**
 * The sessions of one area and the responses that clients may still request, in whatever order entries are read. For
 * one thread.
 */
final class SessionReplay {
    private record Name(int shard, long sessionId) {}

    /** A session at one shard. */
    private static final class Session {
        private final Map<Long, Place> openings = new HashMap<>();
        private boolean closed;
        private long firstUnanswered;
        private final TreeSet<Long> sequences = new TreeSet<>();

        void request(long sequence, int unanswered) {
            firstUnanswered = Math.max(firstUnanswered, sequence - unanswered);
            sequences.add(sequence);
            sequences.headSet(firstUnanswered).clear();
        }

        boolean isOpen() {
            return !openings.isEmpty() && !closed;
        }
    }

    private final Map<Name, Session> sessions = new HashMap<>();

    void apply(StoredEntry entry) {
        if (entry.isVoid() || entry.sessionId() == 0) {
            return;
        }
        entry.alsoClosed().forEach(other -> named(entry.shard(), other).closed = true);
        final Session session = named(entry.shard(), entry.sessionId());
        if (entry.type() == EntryType.SESSION_OPEN) {
            session.openings.putIfAbsent(entry.version(), entry.place());
        } else if (entry.type() == EntryType.SESSION_CLOSE) {
            session.closed = true;
        }
        if (entry.sequence() != 0) {
            session.request(entry.sequence(), entry.unanswered());
        }
    }

    private Session named(int shard, long sessionId) {
        return sessions.computeIfAbsent(new Name(shard, sessionId), unused -> new Session());
    }

    /** Sessions that are open at one shard at least. */
    int open() {
        final Set<Long> open = new HashSet<>();
        sessions.forEach((name, session) -> {
            if (session.isOpen()) {
                open.add(name.sessionId());
            }
        });
        return open.size();
    }

    /** Responses that may still be requested. */
    long completions() {
        return sessions.values().stream()
                .filter(Session::isOpen)
                .mapToLong(session -> session.sequences.size())
                .sum();
    }

    /** The places of the open sessions' openings. */
    Set<Place> openings() {
        final Set<Place> places = new HashSet<>();
        for (Session session : sessions.values()) {
            if (session.isOpen()) {
                session.openings.values().stream().findFirst().ifPresent(places::add);
            }
        }
        return places;
    }
}
