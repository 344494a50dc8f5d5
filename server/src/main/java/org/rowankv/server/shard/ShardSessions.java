package org.rowankv.server.shard;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionImage;
import org.rowankv.server.session.SessionTable;

/**
 * The client sessions open at one shard, divided into tables by session id. A session belongs to one caller at a time,
 * so two callers seldom meet in one table. Each table guards itself.
 */
public final class ShardSessions {
    /** The number of tables. */
    public static final int TABLES = 16;

    private final Segments segments;
    private final SessionTable[] tables = new SessionTable[TABLES];

    ShardSessions(Segments segments) {
        this.segments = segments;
        for (int i = 0; i < tables.length; i++) {
            tables[i] = new SessionTable(segments::markDead);
        }
    }

    /** The table that holds the session, if it is open. */
    public SessionTable of(long sessionId) {
        return tables[(int) (sessionId * 0x9e3779b97f4a7c15L >>> 60)];
    }

    /** One of the {@link #TABLES}. */
    public SessionTable table(int number) {
        return tables[number];
    }

    /** {@link SessionTable#refersTo} of any of the tables. */
    public boolean refersTo(long address) {
        return Arrays.stream(tables).anyMatch(table -> table.refersTo(address));
    }

    /** The number of open sessions. */
    public int openCount() {
        int count = 0;
        for (SessionTable table : tables) {
            count += table.openCount();
        }
        return count;
    }

    /** The ids of the open sessions. */
    public long[] openIds() {
        long[] ids = new long[0];
        for (SessionTable table : tables) {
            final long[] more = table.openSessions();
            final int before = ids.length;
            ids = Arrays.copyOf(ids, before + more.length);
            System.arraycopy(more, 0, ids, before, more.length);
        }
        return ids;
    }

    /** The shard's primary is here from now on: bounds the open sessions of each table, and renews their leases. */
    public void beginPrimary(int mostPerTable) {
        for (SessionTable table : tables) {
            table.limit(mostPerTable);
            table.renewLeases();
        }
    }

    /** The open sessions, for a checkpoint. */
    public List<SessionImage> images() {
        final List<SessionImage> images = new ArrayList<>();
        for (SessionTable table : tables) {
            table.addImages(images);
        }
        return images;
    }

    void restore(List<SessionImage> images) {
        for (SessionImage session : images) {
            of(session.sessionId()).restore(session, openVersion(session.openAddress()));
        }
    }

    private long openVersion(long opening) {
        return opening == 0
                ? 0
                : EntryDescriptor.version(
                        segments.region().buffer(opening), segments.region().offset(opening));
    }

    void beginScan() {
        for (SessionTable table : tables) {
            table.beginScan();
        }
    }

    /** @param order selects one of two copies of an entry */
    void beginScan(SessionTable.CopyOrder order) {
        for (SessionTable table : tables) {
            table.beginScan(order);
        }
    }

    /** Returns the bytes of space freed by it. */
    int endScan() {
        int freed = 0;
        for (SessionTable table : tables) {
            freed += table.endScan();
        }
        return freed;
    }

    /** Applies an opening; returns bytes as {@link ShardReplica#apply} does. */
    int open(ByteBuffer entry, int at, long address, int length, @Nullable CheckpointBound bound) {
        final int flags = EntryDescriptor.flags(entry, at);
        final long sessionId = EntryDescriptor.sessionId(entry, at, flags);
        final long version = EntryDescriptor.version(entry, at);
        if (bound != null && bound.isSessionOver(sessionId, version)) {
            return segments.markDead(address, length);
        }
        final long dead = of(sessionId).open(sessionId, version, address);
        return dead == 0 ? 0 : segments.markDead(dead, length);
    }

    /**
     * Applies the end of one or several sessions.
     *
     * @param release of the entry that opened a session
     */
    int close(ByteBuffer entry, int at, long version, LongToIntFunction release) {
        int freed = 0;
        for (int number = 0; number < EntryDescriptor.closedSessions(entry, at); number++) {
            final long sessionId = EntryDescriptor.closedSession(entry, at, number);
            freed += of(sessionId).close(sessionId, version, release);
        }
        return freed;
    }

    /** Records the response that a session's entry holds. */
    int complete(ByteBuffer entry, int at, long address, long version) {
        final int flags = EntryDescriptor.flags(entry, at);
        final long sequence = EntryDescriptor.sequence(entry, at, flags);
        if (sequence == 0) {
            return 0;
        }
        final long sessionId = EntryDescriptor.sessionId(entry, at, flags);
        return of(sessionId)
                .complete(
                        sessionId,
                        sequence,
                        EntryDescriptor.unanswered(entry, at, flags),
                        version,
                        EntryDescriptor.previousVersion(entry, at, flags),
                        EntryDescriptor.resultBits(flags),
                        address);
    }
}
