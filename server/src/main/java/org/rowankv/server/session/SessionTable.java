package org.rowankv.server.session;

import java.util.Arrays;
import java.util.List;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;

/**
 * The open sessions at one shard's replica and the completions of each: responses of mutations, kept until a later
 * request's watermark acknowledges them. Completions are data: they are rebuilt from the log's entries on every
 * replica, so a retry is recognised after a restart or on a new primary too.
 *
 * <p>Guarded by its monitor: the primary's workers hold the key's lock, but two keys of one session may differ, and the
 * cleaner calls at any time.
 */
public final class SessionTable {
    /** Counts an entry dead that only a completion had kept; returns the space freed. */
    @FunctionalInterface
    public interface Release {
        int release(long address, int length);
    }

    /** Selects which of two copies of an entry to keep. */
    @FunctionalInterface
    public interface CopyOrder {
        /** Whether the copy at {@code address} is kept rather than the one at {@code other}. */
        boolean isPreferred(long address, long other);
    }

    private static final long[] NONE = {};
    private static final CopyOrder FIRST_MET = (address, other) -> false;

    private final LongMap<OpenSession> sessions = new LongMap<>();
    private final ClosedSessions closed = new ClosedSessions();
    private final SessionSlots slots = new SessionSlots();
    private final Release release;
    private boolean scanning;
    private CopyOrder copies = FIRST_MET;
    /** Advances while this server is the shard's primary: the clock of leases. */
    private int tick;

    private long uses;

    public SessionTable(Release release) {
        this.release = release;
    }

    /** As {@link #beginScan(CopyOrder)}, keeping the first of several copies. */
    public void beginScan() {
        beginScan(FIRST_MET);
    }

    /** While entries arrive in any order, information about a session not opened yet is kept for its opening. */
    public synchronized void beginScan(CopyOrder order) {
        scanning = true;
        copies = order;
    }

    /**
     * All entries were read: sessions that were closed, or whose opening is gone, have ended. Not all of them are
     * remembered: an opening from before this start has a version of an earlier epoch, which the primary refuses.
     *
     * @return the space freed by entries that only their completions had kept
     */
    public synchronized int endScan() {
        scanning = false;
        copies = FIRST_MET;
        int freed = 0;
        for (long sessionId : sessions.keys()) {
            final OpenSession session = sessions.get(sessionId);
            if (session != null && session.openAddress == 0) {
                freed += session.completions.releaseAll(release);
                sessions.remove(sessionId);
                if (session.isClosed()) {
                    closed.add(sessionId, session.closeVersion);
                }
            }
        }
        return freed;
    }

    /**
     * Opens a session, unless it is closed behind that opening. It may have been closed before it: then it is open once
     * more, see {@link ClosedSessions}.
     *
     * @param version of the entry that opens it
     * @param address of that entry
     * @return the address of an opening that is dead now: this one, an earlier one, or 0 for none
     */
    public synchronized long open(long sessionId, long version, long address) {
        OpenSession session = sessions.get(sessionId);
        if (session == null) {
            if (closed.isClosedBehind(sessionId, version)) {
                return address; // the same entry again
            }
            session = newSession();
            sessions.put(sessionId, session);
        }
        if (session.openAddress == address) {
            return 0;
        }
        if (version < session.closeVersion
                || version < session.openVersion
                || session.openAddress != 0
                        && version == session.openVersion
                        && !copies.isPreferred(address, session.openAddress)) {
            return address;
        }
        final long before = session.openAddress;
        session.openAddress = address;
        session.openVersion = version;
        return before;
    }

    private OpenSession newSession() {
        final OpenSession session = new OpenSession();
        used(session);
        return session;
    }

    private void used(OpenSession session) {
        session.usedAt = tick;
        session.lastUse = ++uses;
    }

    /**
     * Closes a session, unless it was opened behind that closing.
     *
     * @param version of the entry that closes it
     * @param opening receives the address of the entry that opened it, before the cleaner can consider that entry dead
     * @return the space freed: the result of {@code opening}, and that of entries kept for completions
     */
    public synchronized int close(long sessionId, long version, LongToIntFunction opening) {
        final OpenSession session = scanning ? scanned(sessionId) : sessions.get(sessionId);
        if (session == null || version < session.openVersion) {
            return 0;
        }
        int freed = session.openAddress == 0 ? 0 : opening.applyAsInt(session.openAddress);
        session.openAddress = 0;
        session.closeVersion = Math.max(session.closeVersion, version);
        if (!scanning) { // else they may be of a later opening, which is not read yet
            freed += session.completions.releaseAll(release);
            slots.release(session);
            sessions.remove(sessionId);
            closed.add(sessionId, session.closeVersion);
        }
        return freed;
    }

    private OpenSession scanned(long sessionId) {
        OpenSession session = sessions.get(sessionId);
        if (session == null) {
            session = newSession();
            sessions.put(sessionId, session);
        }
        return session;
    }

    public synchronized boolean isOpen(long sessionId) {
        return sessions.get(sessionId) != null;
    }

    /**
     * Whether a request to open a session may be a late copy, for a closed one. Opened again, it would let late copies
     * of its mutations take effect a second time, since their completions are gone.
     *
     * @param asOf a version that the shard assigned before the client first sent the request
     */
    public synchronized boolean mayBeClosed(long sessionId, long asOf) {
        return closed.mayHold(sessionId, asOf);
    }

    // --- slots ---

    /** Sets the maximum number of open sessions here. */
    public synchronized void limit(int mostOpen) {
        slots.limit(mostOpen);
    }

    /**
     * Takes a slot for a session before it is opened; followed by {@link #opened} or {@link #notOpened}, unless the
     * result is WAITS. When all slots are taken, the session unused for longest is replaced, unless a request of it is
     * in flight: one of the same connection if that has its share of all sessions, else any.
     *
     * @param connection of the request
     * @param replaced receives the session that must end first
     */
    public synchronized SessionOpening beginOpening(long connection, long[] replaced) {
        return slots.begin(sessions, connection, replaced);
    }

    /** The session that holds a slot is open, on that connection. */
    public synchronized void opened(long sessionId, long connection) {
        slots.end();
        final OpenSession session = sessions.get(sessionId);
        if (session != null) {
            session.connection = connection;
        }
    }

    /** The session that holds a slot is not opened. */
    public synchronized void notOpened() {
        slots.end();
    }

    /** Whether the end of that session is being decided. */
    public synchronized boolean isEnding(long sessionId) {
        final OpenSession session = sessions.get(sessionId);
        return session != null && session.ending;
    }

    // --- requests ---

    /**
     * Looks up a request before it is decided, and renews the session's lease. If the request is NEW or COMPLETED it
     * counts as in flight until {@link #leave}: until then its session does not end.
     */
    public synchronized RequestFinding enter(long sessionId, long sequence) {
        final OpenSession session = sessions.get(sessionId);
        if (session == null) {
            return RequestFinding.NO_SESSION;
        }
        if (session.ending) {
            return RequestFinding.ENDING;
        }
        used(session);
        if (held(sessionId, sequence) != null) {
            session.requests++;
            return RequestFinding.COMPLETED;
        }
        if (sequence < session.completions.firstUnanswered()) {
            return RequestFinding.ANSWERED;
        }
        session.requests++;
        return RequestFinding.NEW;
    }

    /** A request admitted by {@link #enter} has ended. */
    public synchronized void leave(long sessionId) {
        final OpenSession session = sessions.get(sessionId);
        if (session != null && session.requests > 0) {
            session.requests--;
            used(session);
        }
    }

    // --- leases ---

    /**
     * Advances the clock of leases.
     *
     * @param ticks that a session may be unused
     * @return sessions unused for longer, at this moment
     */
    public synchronized long[] tick(int ticks) {
        tick++;
        int count = 0;
        final long[] open = sessions.size() == 0 ? NONE : sessions.keys();
        for (long sessionId : open) {
            final OpenSession session = sessions.get(sessionId);
            if (session != null && isUnused(session, ticks)) {
                open[count++] = sessionId;
            }
        }
        return count == open.length ? open : Arrays.copyOf(open, count);
    }

    /** Each session has a whole lease from now on: what another primary has answered it is not known here. */
    public synchronized void renewLeases() {
        for (long sessionId : sessions.keys()) {
            final OpenSession session = sessions.get(sessionId);
            if (session != null) {
                session.usedAt = tick;
            }
        }
    }

    private boolean isUnused(OpenSession session, int ticks) {
        return session.requests == 0 && tick - session.usedAt > ticks;
    }

    /**
     * Begins to end a session unused for so many ticks; false if it was used, or is not open any more. Its requests
     * wait from now on, until it is closed, or {@link #cancelEnding}.
     */
    public synchronized boolean beginEnding(long sessionId, int ticks) {
        final OpenSession session = sessions.get(sessionId);
        if (session == null || session.ending || !isUnused(session, ticks)) {
            return false;
        }
        session.ending = true;
        return true;
    }

    /** Cancels the end. A no-op if the session is closed. */
    public synchronized void cancelEnding(long sessionId) {
        final OpenSession session = sessions.get(sessionId);
        if (session != null) {
            session.ending = false;
            slots.release(session);
        }
    }

    public synchronized int openCount() {
        return sessions.size();
    }

    public synchronized long[] openSessions() {
        return sessions.keys();
    }

    /** Whether this is the entry that opened an open session. */
    public synchronized boolean isOpening(long sessionId, long address) {
        final OpenSession session = sessions.get(sessionId);
        return session != null && session.openAddress == address;
    }

    /** The cleaner copied the opening of a session. */
    public synchronized boolean openingMoved(long sessionId, long from, long to) {
        final OpenSession session = sessions.get(sessionId);
        if (session == null || session.openAddress != from) {
            return false;
        }
        session.openAddress = to;
        return true;
    }

    /** A copy of the response to an earlier attempt of this request; null when none was applied. */
    public synchronized @Nullable Completion find(long sessionId, long sequence) {
        final Completion found = held(sessionId, sequence);
        return found == null ? null : found.copy();
    }

    private @Nullable Completion held(long sessionId, long sequence) {
        final OpenSession session = sessions.get(sessionId);
        return session == null ? null : session.completions.of(sequence);
    }

    /**
     * Records the outcome of a mutation, and forgets those below the session's watermark. A no-op when the session is
     * closed.
     *
     * @param address of the entry that holds the old value
     * @return the space freed by entries that only forgotten completions had kept
     */
    public synchronized int complete(
            long sessionId, long sequence, int unanswered, long version, long previousVersion, int bits, long address) {
        final OpenSession session = scanning ? scanned(sessionId) : sessions.get(sessionId);
        if (session == null || version < session.closeVersion) {
            return 0;
        }
        return session.completions.remember(
                release, copies, sequence, unanswered, Status.OK, version, previousVersion, bits, address);
    }

    /**
     * Records the response of a mutation without an entry, while this server is the shard's primary: a duplicate that
     * arrives after the response must not take effect, even if it could by then.
     *
     * @return the space freed by entries that only forgotten completions had kept
     */
    public synchronized int answeredWithoutEntry(
            long sessionId, long sequence, int unanswered, Status status, long version, int bits) {
        final OpenSession session = sessions.get(sessionId);
        return session == null
                ? 0
                : session.completions.remember(release, copies, sequence, unanswered, status, version, 0, bits, 0);
    }

    /**
     * The entry is dead except for its completion: if that is still needed, the entry is kept, and counted dead when
     * the completion is forgotten.
     */
    public synchronized boolean keep(long sessionId, long sequence, long address, int length) {
        final Completion completion = held(sessionId, sequence);
        if (completion == null || completion.address != address) {
            return false;
        }
        completion.keptLength = length;
        return true;
    }

    /** Receives addresses in the log, each of which stays valid until it returns. */
    @FunctionalInterface
    public interface AddressReader {
        void read(long address);
    }

    /**
     * Passes the entry that opened a session to the reader; false if the session is not open. The cleaner reports a
     * copy here before it frees the segment, so addresses in this table are valid.
     */
    public synchronized boolean readOpening(long sessionId, AddressReader reader) {
        final OpenSession session = sessions.get(sessionId);
        if (session == null || session.openAddress == 0) {
            return false;
        }
        reader.read(session.openAddress);
        return true;
    }

    /**
     * Passes the entry of a session's next completion in the log to the reader.
     *
     * @param after a sequence; those up to it are skipped
     * @return its sequence, or −1 when there is none
     */
    public synchronized long readCompletion(long sessionId, long after, AddressReader reader) {
        final OpenSession session = sessions.get(sessionId);
        final Completion next = session == null ? null : session.completions.nextApplied(after);
        if (next == null) {
            return -1;
        }
        reader.read(next.address);
        return next.sequence;
    }

    /** Whether the outcome of a mutation, which may still be requested, is unknown here, as far as the log was read. */
    public synchronized boolean lacksCompletion(long sessionId, long sequence) {
        final OpenSession session = sessions.get(sessionId);
        return session == null
                || !session.isClosed()
                        && sequence >= session.completions.firstUnanswered()
                        && held(sessionId, sequence) == null;
    }

    /** Whether a client may still request the outcome in this entry. */
    public synchronized boolean isNeeded(long sessionId, long sequence, long address) {
        final Completion completion = held(sessionId, sequence);
        return completion != null && completion.address == address;
    }

    /** As {@link #isNeeded}, or whether the entry opened an open session; whatever the entry, which may be damaged, says. */
    public synchronized boolean refersTo(long address) {
        for (long sessionId : sessions.keys()) {
            final OpenSession session = sessions.get(sessionId);
            if (session != null && (session.openAddress == address || session.completions.isAt(address))) {
                return true;
            }
        }
        return false;
    }

    /** The cleaner copied the entry of a completion; true if the entry is kept for that alone, see {@link #keep}. */
    public synchronized boolean completionMoved(long sessionId, long sequence, long from, long to) {
        final Completion completion = held(sessionId, sequence);
        if (completion == null || completion.address != from) {
            return false;
        }
        completion.address = to;
        return completion.keptLength != 0;
    }

    /**
     * The cleaner wrote a record of an entry that was kept only for its completion.
     *
     * @return length of the entry kept until now; −1 when the completion was forgotten meanwhile
     */
    public synchronized int completionRecorded(long sessionId, long sequence, long from, long to, int length) {
        final Completion completion = held(sessionId, sequence);
        if (completion == null || completion.address != from) {
            return -1;
        }
        final int keptBefore = completion.keptLength;
        completion.address = to;
        completion.keptLength = length;
        return keptBefore;
    }

    /** Adds the presently open sessions. */
    public synchronized void addImages(List<SessionImage> images) {
        if (sessions.size() == 0) {
            return;
        }
        for (long sessionId : sessions.keys()) {
            final OpenSession session = sessions.get(sessionId);
            if (session != null && session.openAddress != 0) {
                images.add(session.completions.image(sessionId, session.openAddress));
            }
        }
    }

    /**
     * Restores an open session, while entries arrive in any order.
     *
     * @param openVersion of the entry that opened it; 0 if the scan must find it
     */
    public synchronized void restore(SessionImage image, long openVersion) {
        final OpenSession session = scanned(image.sessionId());
        session.openVersion = openVersion;
        session.openAddress = image.openAddress();
        session.completions.restore(image);
    }
}
