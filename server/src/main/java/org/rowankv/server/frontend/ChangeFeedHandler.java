package org.rowankv.server.frontend;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.server.catalogue.CatalogueThread;
import org.rowankv.server.shard.ShardChanges;

/**
 * Answers questions for changes: at once if there is something to say, else when there is, or when the time of the question is over.
 * A client that does not ask is owed nothing, so there is nothing to hold for one that is slow. Of one loop.
 */
final class ChangeFeedHandler {
    /** While memory is short, no longer question waits: nothing else bounds how many do. */
    private static final int SHORT_LENGTH = 4 << 10;

    /** What stands behind the port at the moment. */
    private record PortSource(ClientPort port) implements PendingChangesRequest.Source {
        @Override
        public RequestBackend served() {
            return port.served();
        }

        @Override
        public Status whyNotServed(int shard, long clientTerm) {
            return port.whyNotServed(shard, clientTerm);
        }

        @Override
        public int maxFrame() {
            return port.settings().maxFrame();
        }
    }

    private final ClientPort port;
    private final PendingChangesRequest.Source source;
    private final LoopMemoryBudget memory;
    private final Map<ClientConnection, PendingChangesRequest> waiting = new IdentityHashMap<>();
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
    ChangeFeedHandler(ClientPort port, LoopMemoryBudget memory, Runnable wakeUp) {
        this.port = port;
        this.source = new PortSource(port);
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
            throws WireException {
        ChangesRequestDescriptor.check(buffer, at, length);
        final PendingChangesRequest before = take(connection);
        if (before != null) {
            answer(connection, before);
        }
        final PendingChangesRequest asked = new PendingChangesRequest(number, buffer, at, nowNs);
        begin(asked);
        if (memory.isShort() && length > SHORT_LENGTH) {
            answerNow(connection, asked);
        } else if (asked.isOver(nowNs) && !asked.isSearched()) {
            answer(connection, asked);
        } else {
            waiting.put(connection, asked);
            memory.changed(asked.charge());
            signalled = true;
            search(asked);
        }
    }

    /** What the connection has asked waits no longer. */
    private @Nullable PendingChangesRequest take(ClientConnection connection) {
        final PendingChangesRequest asked = waiting.remove(connection);
        if (asked != null) {
            memory.changed(-asked.charge());
        }
        return asked;
    }

    private void begin(PendingChangesRequest asked) {
        for (int i = 0; i < asked.count(); i++) {
            // An id that no catalogue has given out must not take one of the places of a shard.
            if (port.catalogue().isKnown(asked.cacheId(i))) {
                begin(asked, i);
            } else {
                asked.search(i);
            }
        }
    }

    private void begin(PendingChangesRequest asked, int index) {
        final ShardChanges changes = asked.begin(source, index);
        if (changes != null && watched.add(changes)) {
            changes.watch(watcher);
        }
    }

    /** Has the catalogue read for the caches that are not known: they were created through another server, or are invented. */
    private void search(PendingChangesRequest asked) {
        if (!asked.isSearched()) {
            return;
        }
        asked.await(searched + 1); // one that is under way has begun before the question came
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
            final PendingChangesRequest asked = waiting.get(each);
            if (asked != null && asked.isSearched()) {
                if (asked.awaited() <= searched) {
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

    private void onCatalogue(
            ClientConnection connection, PendingChangesRequest asked, CatalogueThread.Reading reading) {
        try {
            for (int i = 0; i < asked.count(); i++) {
                final Status status = asked.isSearched(i) ? reading.of(asked.cacheId(i)) : null;
                if (status == Status.OK) {
                    begin(asked, i);
                } else if (status != null) {
                    asked.refuse(i, status);
                }
            }
            asked.endSearch();
        } catch (RuntimeException | Error e) {
            port.errors().report("finding the caches of a client's question for changes", e);
            connection.close();
        }
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
            final PendingChangesRequest asked = waiting.get(each);
            if (asked != null && (closing || asked.isOverdue(nowNs))) {
                answerGuarded(each, true);
            }
        }
    }

    /** Whether there was something to say, if it is not to be said anyway. What fails costs its own client the connection. */
    private boolean answerGuarded(ClientConnection connection, boolean anyway) {
        final PendingChangesRequest asked = waiting.get(connection);
        if (asked == null) {
            return false;
        }
        try {
            final List<Section> sections = sectionsOf(asked, anyway);
            if (!anyway && sections.isEmpty()) {
                return false;
            }
            final PendingChangesRequest unused = take(connection);
            send(connection, asked, sections);
            return true;
        } catch (RuntimeException | Error e) {
            port.errors().report("telling a client of changes", e);
            connection.close();
            return false;
        }
    }

    private List<Section> sectionsOf(PendingChangesRequest asked, boolean anyway) {
        final List<Section> sections = asked.sections(source, anyway);
        unfinished |= asked.isUnfinished();
        return sections;
    }

    private void answer(ClientConnection connection, PendingChangesRequest asked) {
        send(connection, asked, sectionsOf(asked, true));
    }

    /** There is no memory to keep the question: a section without news says so, and the client asks again later. */
    private void answerNow(ClientConnection connection, PendingChangesRequest asked) {
        final List<Section> sections = sectionsOf(asked, true);
        send(connection, asked, sections.isEmpty() ? List.of(asked.nothing(0, Status.FULL)) : sections);
    }

    private static void send(ClientConnection connection, PendingChangesRequest asked, List<Section> sections) {
        connection.answerLater(out -> ChangesDescriptor.write(out, asked.number(), sections));
    }

    /** The connection is gone. */
    void forget(ClientConnection connection) {
        final PendingChangesRequest unused = take(connection);
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
