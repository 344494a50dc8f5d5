package org.rowankv.sim.service;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;

/**
 * Checks the changes that one subscription receives. Each acknowledged change is received once, in the order of its
 * shard's versions, unless a loss was announced; received changes agree with the requests, and with the reads during
 * pauses. Each received change is also an event in its key's history: a read of it.
 */
final class StreamChecker {
    private record Place(int shard, long version) {}

    /** An acknowledged change. @param value the id of the written value; 0 for a removal */
    private record Acknowledged(int key, long value, boolean replaces) {}

    private record Received(int key, long value, ChangeType type) {}

    /** The object of a key, as far as changes show it. @param value 0: none */
    private record Held(long version, long value) {}

    private final Scene scene;
    private final StreamServers servers;
    private final @Nullable CallerLog log;
    /** Whether changes happen that no stream shows: a write finds an expired object. */
    private final boolean hidden;

    private final Map<Place, Acknowledged> acknowledged = new HashMap<>();
    private final Map<Place, Received> received = new HashMap<>();
    /** By shard: the version up to which changes may be missing. */
    private final Map<Integer, Long> lostTo = new HashMap<>();
    /** By shard: the version beyond which everything is received. */
    private final Map<Integer, Long> begun = new HashMap<>();

    private final Map<Integer, Held> held = new HashMap<>();
    private final Map<Integer, Integer> shards = new HashMap<>();
    /** Shards that may have been cleared since the last pause: no stream shows that. */
    private final BitSet cleared = new BitSet();

    private final Map<Integer, Long> last = new HashMap<>();

    /**
     * Checks a subscription.
     *
     * @param log receives the received changes, or null
     * @param hidden whether objects may end without a change event
     */
    StreamChecker(Scene scene, StreamServers servers, @Nullable CallerLog log, boolean hidden) {
        this.scene = scene;
        this.servers = servers;
        this.log = log;
        this.hidden = hidden;
    }

    // --- client operations ---

    void arrived(Request request) {
        if (request.operation() == Operation.CLEAR && request.cacheId() == servers.cacheId()) {
            cleared.set(request.shard());
        }
    }

    void answered(Request request) {
        final boolean stores = request.operation() == Operation.PUT;
        if (request.status() != Status.OK
                || request.version() == Version.NONE
                || request.cacheId() != servers.cacheId()
                || request.has(ResultBits.BORN_EXPIRED) // it ends the existing object, as if its lifetime were over
                || !stores && request.operation() != Operation.DELETE) {
            return;
        }
        final Place place = new Place(request.shard(), request.version());
        final Acknowledged now = new Acknowledged(
                keyOf(request),
                stores
                        ? servers.valueOf(Arrays.copyOfRange(
                                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength()))
                        : Event.ABSENT,
                request.has(ResultBits.EXISTED));
        acknowledged.put(place, now);
    }

    private int keyOf(Request request) {
        return servers.keyOf(
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength()));
    }

    // --- received changes ---

    /** The subscription begins in a shard after that version. */
    void begins(int shard, long version) {
        begun.putIfAbsent(shard, version);
        last.merge(shard, version, Math::max);
    }

    /** @param sinceNs a time at which its version had not been assigned yet */
    void received(int shard, Change change, long sinceNs) {
        final String what =
                "change " + Version.toString(change.version()) + " of shard " + shard + " (" + change.type() + ")";
        final int key = servers.keyOf(change.key());
        if (key < 0) {
            scene.violation("a subscriber received the " + what + " of a key that no client has written");
        }
        final byte[] bytes = change.value();
        final long value = bytes == null ? Event.ABSENT : servers.valueOf(bytes);
        final Received before =
                received.put(new Place(shard, change.version()), new Received(key, value, change.type()));
        if (before != null || change.version() <= last.getOrDefault(shard, 0L)) {
            scene.violation("a subscriber received the " + what + " after "
                    + Version.toString(last.getOrDefault(shard, 0L)) + ", or a second time");
        }
        last.put(shard, change.version());
        shards.put(key, shard);
        requireVisible(shard, change, what);
        requireFollows(key, shard, change, what);
        held.put(key, new Held(change.version(), value));
        scene.count("changes received", 1);
        scene.mix(change.version() * 31 + key);
        if (scene.isRead()) {
            scene.tell("the " + what + " of key " + key + " is received: #" + Long.toHexString(value));
        }
        if (log != null) {
            log.add(key, eventOf(change, value, sinceNs));
        }
    }

    private Event eventOf(Change change, long value, long sinceNs) {
        final boolean found = change.type().hasValue();
        return new Event(
                -2,
                KeyAction.GET,
                Event.ABSENT,
                0,
                found ? Outcome.DONE : Outcome.NOT_FOUND,
                found ? change.version() : 0,
                0,
                found ? value : Event.NOT_ASKED,
                sinceNs,
                scene.nowNs());
    }

    /** A reader sees a received change, or a later one. */
    private void requireVisible(int shard, Change change, String what) {
        final long visible =
                servers.visibleVersion(servers.configuration().shard(shard).primary(), shard, change.key());
        if (visible != Version.NONE && visible < change.version()) {
            scene.violation(
                    "a subscriber received the " + what + ", and a reader finds version " + Version.toString(visible));
        }
    }

    private void requireFollows(int key, int shard, Change change, String what) {
        final Held before = held.get(key);
        final byte[] old = change.oldValue();
        if (old != null) {
            scene.count("old values received", 1);
        }
        if (before == null || cleared.get(shard)) {
            return;
        }
        final boolean present = before.value() != Event.ABSENT;
        if (present && change.type() == ChangeType.CREATED && !hidden
                || !present && change.type() != ChangeType.CREATED && !(hidden && endsByItself(change.type()))) {
            final String found = "a subscriber received the " + what + " of key " + key + ", which held "
                    + (present ? "#" + Long.toHexString(before.value()) : "nothing") + " since change "
                    + Version.toString(before.version());
            if (present || endsByItself(change.type())) {
                scene.violation(found);
            } else {
                // Over a damaged entry it is unknown whether there was an object: a plain write counts as an update.
                scene.requireDamage(found + ", as over a damaged entry");
            }
        }
        if (old != null && (present || !hidden) && servers.valueOf(old) != before.value()) {
            scene.violation("the " + what + " of key " + key + " has the old value #"
                    + Long.toHexString(servers.valueOf(old)) + ", and the change before it, "
                    + Version.toString(before.version()) + ", has left #" + Long.toHexString(before.value()));
        }
    }

    /** The read during the pause may have ended the object itself. */
    private static boolean endsByItself(ChangeType type) {
        return type == ChangeType.EXPIRED || type == ChangeType.EVICTED;
    }

    /** Changes up to a version may be missing. */
    void lost(int shard, long after, long upTo) {
        scene.count("losses of changes announced", 1);
        scene.mix(upTo);
        if (scene.isRead()) {
            scene.tell("changes of shard " + shard + " from " + Version.toString(Math.max(0, after)) + " to "
                    + Version.toString(upTo) + " may be lost");
        }
        lostTo.merge(shard, upTo, Math::max);
        last.merge(shard, upTo, Math::max);
        begun.putIfAbsent(shard, upTo);
        held.keySet().removeIf(key -> shards.getOrDefault(key, -1) == shard);
    }

    // --- pauses ---

    /** All completed changes have been delivered. */
    void rest() {
        acknowledged.forEach((place, change) -> {
            final Long from = begun.get(place.shard());
            if (from != null && place.version() > from) {
                check(place, change);
            }
        });
        acknowledged.clear();
    }

    private void check(Place place, Acknowledged change) {
        final String what = "acknowledged change " + Version.toString(place.version()) + " of shard " + place.shard()
                + ", of key " + change.key();
        final Received found = received.get(place);
        if (found == null) {
            if (place.version() > lostTo.getOrDefault(place.shard(), 0L)) {
                scene.violation("a subscriber was not sent the " + what + ", and no loss was announced");
            }
            return;
        }
        final boolean stores = change.value() != Event.ABSENT;
        final boolean suits = stores
                ? found.type() == (change.replaces() ? ChangeType.UPDATED : ChangeType.CREATED)
                : found.type() == ChangeType.REMOVED;
        if (found.key() != change.key() || found.value() != change.value() || !suits) {
            scene.violation("the " + what + " with #" + Long.toHexString(change.value()) + " was sent as " + found);
        }
        scene.count("acknowledged changes found in a stream", 1);
    }

    /** The value of a key when no operation is in progress. */
    void read(int key, int shard, Event read) {
        final Held expected = held.get(key);
        final long version = read.outcome() == Outcome.DONE ? read.version() : 0;
        final long value = read.outcome() == Outcome.DONE ? read.observed() : Event.ABSENT;
        if (expected != null && (value != Event.ABSENT || !cleared.get(shard) && !hidden)) {
            final boolean same = value == Event.ABSENT
                    ? expected.value() == Event.ABSENT
                    : expected.version() == version && expected.value() == value;
            if (!same) {
                scene.violation("by its changes key " + key + " holds #" + Long.toHexString(expected.value())
                        + " of version " + Version.toString(expected.version()) + "; a read during a pause finds #"
                        + Long.toHexString(value) + " of version " + Version.toString(version));
            }
        }
        if (begun.containsKey(shard)) {
            shards.put(key, shard);
            held.put(key, new Held(version, value));
        }
    }

    /** All keys were read. */
    void afterReads() {
        cleared.clear();
    }
}
