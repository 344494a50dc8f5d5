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
 * Long polling for changes: a request is answered at once if there are changes, else when changes arrive or its wait
 * time ends. The server keeps no state for a client without a pending request, so a slow client costs nothing. Owned by
 * one loop.
 */
final class ChangeFeedHandler {
    /** While memory is short, no longer request waits: nothing else bounds the number of waiting requests. */
    private static final int SHORT_LENGTH = 4 << 10;

    /** The current backend of the port. */
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
    /** Set when a change arrives or a role changes; cleared at the start of each poll. */
    private volatile boolean signalled;
    /** The last poll met a change that an earlier, unfinished change holds back. */
    private boolean unfinished;
    /** Number of the last catalogue reading that this loop has requested. */
    private long searched;
    /**
     * Whether that reading is in progress. Its callback holds no request and no connection: both may be gone when it
     * completes.
     */
    private boolean searching;
    /** Result of the reading; written by the catalogue thread. */
    private volatile CatalogueThread.@Nullable Reading found;

    /**
     * Creates the handler of one loop.
     *
     * @param wakeUp wakes a sleeping loop; thread-safe
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

    /** Makes the next poll examine all waiting requests. Thread-safe; the loop is awake, or the caller wakes it. */
    void signal() {
        signalled = true;
    }

    /** Accepts a request of a connection; an earlier request of the same connection is answered. */
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

    /** Removes the pending request of a connection. */
    private @Nullable PendingChangesRequest take(ClientConnection connection) {
        final PendingChangesRequest asked = waiting.remove(connection);
        if (asked != null) {
            memory.changed(-asked.charge());
        }
        return asked;
    }

    private void begin(PendingChangesRequest asked) {
        for (int i = 0; i < asked.count(); i++) {
            // An id that no catalogue has assigned must not occupy one of a shard's feed slots.
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

    /**
     * Requests a catalogue reading for unknown cache ids: such a cache was created through another server, or does not
     * exist.
     */
    private void search(PendingChangesRequest asked) {
        if (!asked.isSearched()) {
            return;
        }
        asked.await(searched + 1); // a reading in progress began before this request arrived
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

    /** Handles the result of a catalogue reading; the catalogue may be unreachable. */
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
                port.errors().report("resolving the caches of pending change requests", e);
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
            port.errors().report("resolving the caches of a change request", e);
            connection.close();
        }
    }

    /** Whether any request is pending. */
    boolean isAsked() {
        return !waiting.isEmpty();
    }

    /** Whether a poll is due: then the loop must not sleep. */
    boolean isDue() {
        return !waiting.isEmpty() && (signalled || unfinished);
    }

    /** Answers the requests that have changes; returns whether there was any. */
    boolean poll() {
        if (!isDue()) {
            return false;
        }
        signalled = false; // first: later signals cause another poll
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

    /** Answers requests whose wait time is over; all requests if {@code closing}. */
    void endOverdue(long nowNs, boolean closing) {
        for (ClientConnection each : List.copyOf(waiting.keySet())) {
            final PendingChangesRequest asked = waiting.get(each);
            if (asked != null && (closing || asked.isOverdue(nowNs))) {
                answerGuarded(each, true);
            }
        }
    }

    /**
     * Answers a request if it has changes or if {@code anyway}; returns whether it was answered. A failure closes the
     * connection of that client only.
     */
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
            port.errors().report("sending changes to a client", e);
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

    /**
     * Answers without keeping the request, for lack of memory: a section without changes reports FULL, and the client
     * polls again later.
     */
    private void answerNow(ClientConnection connection, PendingChangesRequest asked) {
        final List<Section> sections = sectionsOf(asked, true);
        send(connection, asked, sections.isEmpty() ? List.of(asked.nothing(0, Status.FULL)) : sections);
    }

    private static void send(ClientConnection connection, PendingChangesRequest asked, List<Section> sections) {
        connection.answerLater(out -> ChangesDescriptor.write(out, asked.number(), sections));
    }

    /** The connection is closed. */
    void forget(ClientConnection connection) {
        final PendingChangesRequest unused = take(connection);
    }

    /** The server has lost its roles and must not be accessed any more: waiting clients are redirected. */
    void leaveServer(long nowNs) {
        endOverdue(nowNs, true);
        close();
    }

    /** Removes all watchers. */
    void close() {
        watched.forEach(each -> each.unwatch(watcher));
        watched.clear();
    }
}
