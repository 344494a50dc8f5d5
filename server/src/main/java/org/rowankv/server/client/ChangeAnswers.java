package org.rowankv.server.client;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesWantedDescriptor;
import org.rowankv.protocol.wire.ProtocolException;
import org.rowankv.server.stream.ShardChanges;

/**
 * Answers questions for changes: at once if there is something to say, else when there is, or when the time of the question is over.
 * A client that does not ask is owed nothing, so there is nothing to hold for one that is slow. Of one loop.
 */
final class ChangeAnswers {
    /** Of all sections of an answer together, but for a single change that is longer. */
    private static final int MAX_BYTES = 256 << 10;
    /** What an answer with a single change has besides that change. */
    private static final int OVERHEAD = 64 + ChangesDescriptor.SECTION_LENGTH + ChangesDescriptor.CHANGE_LENGTH;

    /** Instead of a position: there are too many caches of which changes are kept. */
    private static final long NOT_KEPT = ChangesWantedDescriptor.FROM_NOW;

    private static final long NS_PER_MS = 1_000_000;
    /** While memory is short, no longer question waits: nothing else bounds how many do. */
    private static final int SHORT_LENGTH = 4 << 10;
    /** What a question that waits holds besides its sections, and for each of them. */
    private static final int CHARGE = 512;

    private static final int SECTION_CHARGE = 32;

    private static final long SEARCH_NS = 1_000_000_000L;

    /** A question that was not answered yet. */
    private static final class Asked {
        private final long number;
        private final long term;
        private final long untilNs;
        /** By section: where it begins, or {@link ChangesWantedDescriptor#FROM_NOW}. */
        private final long[] asked;
        /** By section: up to where there was nothing. */
        private final long[] seen;

        private final int[] cacheIds;
        private final int[] shards;
        private final boolean[] oldValues;
        /** By section: why it is not answered for. */
        private final @Nullable Status[] refused;
        /** Sections whose cache is looked for in the catalogue: nothing is kept of them yet. */
        private final BitSet unknown = new BitSet();
        /** Number of the loop's reading of the catalogue that says of these. */
        private long awaited;

        Asked(long number, ByteBuffer buffer, int at, long nowNs) {
            final int count = ChangesWantedDescriptor.sections(buffer, at);
            this.number = number;
            this.term = ChangesWantedDescriptor.term(buffer, at);
            this.untilNs = nowNs + ChangesWantedDescriptor.waitMs(buffer, at) * NS_PER_MS;
            this.asked = new long[count];
            this.seen = new long[count];
            this.cacheIds = new int[count];
            this.shards = new int[count];
            this.oldValues = new boolean[count];
            this.refused = new @Nullable Status[count];
            for (int i = 0; i < count; i++) {
                asked[i] = ChangesWantedDescriptor.position(buffer, at, i);
                seen[i] = asked[i];
                cacheIds[i] = ChangesWantedDescriptor.cacheId(buffer, at, i);
                shards[i] = ChangesWantedDescriptor.shard(buffer, at, i);
                oldValues[i] = ChangesWantedDescriptor.oldValues(buffer, at, i);
            }
        }

        /** While the catalogue is read for it, a question waits a little longer. */
        boolean isOverdue(long nowNs) {
            return nowNs - untilNs >= (unknown.isEmpty() ? 0 : SEARCH_NS);
        }

        int charge() {
            return CHARGE + SECTION_CHARGE * shards.length;
        }
    }

    private final ClientPort port;
    private final LoopMemory memory;
    private final Map<ClientConnection, Asked> waiting = new IdentityHashMap<>();
    private final Set<ShardChanges> watched = new HashSet<>();
    private final Runnable watcher;
    /** Something has happened since the last look. */
    private volatile boolean signalled;
    /** What happened is not finished: something before it is still under way. */
    private boolean unfinished;
    /** Of the readings of the catalogue that this loop has asked for: the last one. */
    private long searched;
    /** Whether that is under way. One at a time holds no question and no connection: those may be gone when it ends. */
    private boolean searching;
    /** What it says; from the catalogue's thread. */
    private volatile CatalogueThread.@Nullable Reading found;

    /**
     * Answers for one loop.
     *
     * @param wakeUp wakes the loop up if it sleeps; for any thread
     */
    ChangeAnswers(ClientPort port, LoopMemory memory, Runnable wakeUp) {
        this.port = port;
        this.memory = memory;
        this.watcher = () -> {
            signalled = true;
            wakeUp.run();
        };
    }

    /** Something may be to be said that was not before. Any thread; the loop is awake, or is woken up by the caller. */
    void signal() {
        signalled = true;
    }

    /** Takes a question of a connection; what that had asked before is answered. */
    void ask(ClientConnection connection, long number, ByteBuffer buffer, int at, int length, long nowNs)
            throws ProtocolException {
        ChangesWantedDescriptor.check(buffer, at, length);
        final Asked before = take(connection);
        if (before != null) {
            answer(connection, before);
        }
        final Asked asked = new Asked(number, buffer, at, nowNs);
        begin(asked);
        if (memory.isShort() && length > SHORT_LENGTH) {
            answerNow(connection, asked);
        } else if (asked.untilNs - nowNs <= 0 && asked.unknown.isEmpty()) {
            answer(connection, asked);
        } else {
            waiting.put(connection, asked);
            memory.changed(asked.charge());
            signalled = true;
            search(asked);
        }
    }

    /** What the connection has asked waits no longer. */
    private @Nullable Asked take(ClientConnection connection) {
        final Asked asked = waiting.remove(connection);
        if (asked != null) {
            memory.changed(-asked.charge());
        }
        return asked;
    }

    private void begin(Asked asked) {
        for (int i = 0; i < asked.shards.length; i++) {
            // An id that no catalogue has given out must not take one of the places of a shard.
            if (port.catalogue().isKnown(asked.cacheIds[i])) {
                begin(asked, i);
            } else {
                asked.unknown.set(i);
            }
        }
    }

    private void begin(Asked asked, int index) {
        final int shard = asked.shards[index];
        final ShardChanges changes = changes(asked, index);
        if (changes == null || port.served().isDestroyed(shard, asked.cacheIds[index])) {
            return;
        }
        final long from = changes.want(
                asked.cacheIds[index],
                asked.oldValues[index],
                () -> port.served().lastVersion(shard));
        if (from == Version.NONE) {
            asked.seen[index] = NOT_KEPT;
        } else if (asked.asked[index] == ChangesWantedDescriptor.FROM_NOW) {
            asked.seen[index] = from;
        }
        if (watched.add(changes)) {
            changes.watch(watcher);
        }
    }

    /** Has the catalogue read for the caches that are not known: they were created through another server, or are invented. */
    private void search(Asked asked) {
        if (asked.unknown.isEmpty()) {
            return;
        }
        asked.awaited = searched + 1; // one that is under way has begun before the question came
        if (!searching) {
            search();
        }
    }

    private void search() {
        boolean begun = false;
        searching = true;
        try {
            port.catalogue().find(reading -> {
                found = reading;
                watcher.run();
            });
            searched++;
            begun = true;
        } finally {
            searching = begun;
        }
    }

    /** The catalogue was read, or cannot be read now. */
    private void onCatalogue(CatalogueThread.Reading reading) {
        found = null;
        searching = false;
        boolean more = false;
        for (ClientConnection each : List.copyOf(waiting.keySet())) {
            final Asked asked = waiting.get(each);
            if (asked != null && !asked.unknown.isEmpty()) {
                if (asked.awaited <= searched) {
                    onCatalogue(each, asked, reading);
                } else {
                    more = true;
                }
            }
        }
        if (more) {
            try {
                search();
            } catch (RuntimeException | Error e) {
                port.errors().report("finding the caches of clients' questions for changes", e);
            }
        }
    }

    private void onCatalogue(ClientConnection connection, Asked asked, CatalogueThread.Reading reading) {
        try {
            for (int i = asked.unknown.nextSetBit(0); i >= 0; i = asked.unknown.nextSetBit(i + 1)) {
                final Status status = reading.of(asked.cacheIds[i]);
                if (status == Status.OK) {
                    begin(asked, i);
                } else {
                    asked.refused[i] = status;
                }
            }
            asked.unknown.clear();
        } catch (RuntimeException | Error e) {
            port.errors().report("finding the caches of a client's question for changes", e);
            connection.close();
        }
    }

    private @Nullable ShardChanges changes(Asked asked, int section) {
        return port.whyNotServed(asked.shards[section], asked.term) == Status.OK
                ? port.served().changes(asked.shards[section])
                : null;
    }

    /** Whether anybody waits. */
    boolean isAsked() {
        return !waiting.isEmpty();
    }

    /** Whether there is something to look at: then the loop must not sleep. */
    boolean isDue() {
        return !waiting.isEmpty() && (signalled || unfinished);
    }

    /** Answers those to whom there is something to say; whether it was any. */
    boolean turn() {
        if (!isDue()) {
            return false;
        }
        signalled = false; // first: what happens from here on is looked at again
        final CatalogueThread.Reading reading = found;
        if (reading != null) {
            onCatalogue(reading);
        }
        unfinished = false;
        boolean any = false;
        for (ClientConnection each : List.copyOf(waiting.keySet())) {
            any |= answerGuarded(each, false);
        }
        return any;
    }

    /** Answers those whose time is over; all of them if nothing more is to come. */
    void endOverdue(long nowNs, boolean closing) {
        for (ClientConnection each : List.copyOf(waiting.keySet())) {
            final Asked asked = waiting.get(each);
            if (asked != null && (closing || asked.isOverdue(nowNs))) {
                answerGuarded(each, true);
            }
        }
    }

    /** Whether there was something to say, if it is not to be said anyway. What fails costs its own client the connection. */
    private boolean answerGuarded(ClientConnection connection, boolean anyway) {
        final Asked asked = waiting.get(connection);
        if (asked == null) {
            return false;
        }
        try {
            final List<Section> sections = sections(asked, anyway);
            if (!anyway && sections.isEmpty()) {
                return false;
            }
            final Asked unused = take(connection);
            send(connection, asked, sections);
            return true;
        } catch (RuntimeException | Error e) {
            port.errors().report("telling a client of changes", e);
            connection.close();
            return false;
        }
    }

    private void answer(ClientConnection connection, Asked asked) {
        send(connection, asked, sections(asked, true));
    }

    /** There is no memory to keep the question: a section without news says so, and the client asks again later. */
    private void answerNow(ClientConnection connection, Asked asked) {
        final List<Section> sections = sections(asked, true);
        send(connection, asked, sections.isEmpty() ? List.of(nothing(0, Status.FULL, asked.asked[0])) : sections);
    }

    private static void send(ClientConnection connection, Asked asked, List<Section> sections) {
        connection.answerLater(out -> ChangesDescriptor.write(out, asked.number, sections));
    }

    /**
     * What is to be said.
     *
     * @param anyway whether an answer is sent in any case; else none without news
     */
    private List<Section> sections(Asked asked, boolean anyway) {
        final List<Section> sections = new ArrayList<>();
        int room = Math.min(MAX_BYTES, port.settings().maxFrame() / 4);
        boolean news = anyway;
        for (int i = 0; i < asked.shards.length && room > 0; i++) {
            if (asked.unknown.get(i)) {
                continue;
            }
            final Section section = section(asked, i, room);
            if (section.status() != Status.OK
                    || section.lostTo() != 0
                    || !section.changes().isEmpty()) {
                news = true;
            }
            // From now on: where that is, is news.
            news |= asked.asked[i] == ChangesWantedDescriptor.FROM_NOW;
            if (section.status() != Status.OK || section.to() > section.from()) {
                sections.add(section);
            }
            for (Change change : section.changes()) {
                room -= (int) change.length() + ChangesDescriptor.CHANGE_LENGTH;
            }
            room -= ChangesDescriptor.SECTION_LENGTH;
        }
        return news ? sections : List.of();
    }

    private Section section(Asked asked, int index, int room) {
        final int shard = asked.shards[index];
        final int cacheId = asked.cacheIds[index];
        final long from = asked.asked[index];
        final Status unanswered = asked.refused[index];
        if (unanswered != null) {
            return nothing(index, unanswered, from);
        }
        final Status refused = port.whyNotServed(shard, asked.term);
        final ShardChanges changes = refused == Status.OK ? port.served().changes(shard) : null;
        if (changes == null) {
            return nothing(index, refused != Status.OK ? refused : Status.NOT_PRIMARY, from);
        }
        if (port.served().isDestroyed(shard, cacheId)) {
            return nothing(index, Status.UNKNOWN_CACHE, from);
        }
        if (asked.seen[index] == NOT_KEPT) {
            return nothing(index, Status.FULL, from);
        }
        if (from > port.served().lastVersion(shard)) {
            return nothing(index, Status.BAD_REQUEST, from); // no stream was ever at that place
        }
        final long finished = port.served().finishedVersion(shard);
        final ShardChanges.Reading reading = changes.read(cacheId, asked.seen[index], finished, room);
        unfinished |= changes.newest() > finished && changes.newest() > reading.to();
        return answered(index, asked, reading);
    }

    private Section answered(int index, Asked asked, ShardChanges.Reading reading) {
        final long from = asked.asked[index];
        final List<Change> changes = reading.changes();
        if (!changes.isEmpty()
                && changes.get(0).length() + OVERHEAD > port.settings().maxFrame()) {
            final Change without = changes.get(0).withoutOldValue();
            if (without.length() + OVERHEAD > port.settings().maxFrame()) {
                return new Section(index, Status.OK, from, without.version(), without.version(), List.of());
            }
            return new Section(index, Status.OK, from, reading.lostTo(), without.version(), List.of(without));
        }
        if (changes.isEmpty() && reading.lostTo() == 0) {
            asked.seen[index] = reading.to();
        }
        return new Section(index, Status.OK, from, reading.lostTo(), reading.to(), changes);
    }

    private static Section nothing(int index, Status status, long from) {
        return new Section(index, status, from, 0, from, List.of());
    }

    /** The connection is gone. */
    void forget(ClientConnection connection) {
        final Asked unused = take(connection);
    }

    /** The server has no roles any more, and is not touched any more: those who wait are told to look elsewhere. */
    void leaveServer(long nowNs) {
        endOverdue(nowNs, true);
        close();
    }

    /** Nothing is watched any more. */
    void close() {
        watched.forEach(each -> each.unwatch(watcher));
        watched.clear();
    }
}
