package org.rowankv.driver;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Clock;

/** One shard of the model: live objects and versions of deletions, in hash order. Guarded by itself. */
final class ModelShard {
    private static final long NEVER = Long.MAX_VALUE;

    private record Place(long position, int cacheId, byte[] key) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int order = Long.compareUnsigned(position, other.position);
            order = order != 0 ? order : Integer.compare(cacheId, other.cacheId);
            return order != 0 ? order : Arrays.compare(key, other.key);
        }
    }

    /** A live object, or with {@code value == null} a tombstone. */
    private static final class Item {
        private byte[] value;
        private long version;
        private long expiresAtMs;
    }

    private final Clock clock;
    private final NavigableMap<Place, Item> items = new TreeMap<>();
    private final Map<Integer, Long> cleared = new TreeMap<>();
    private long lastVersion = Version.of(1, 0);
    private int bits;

    ModelShard(Clock clock) {
        this.clock = clock;
    }

    private long nowMs() {
        return clock.nanoTime() / 1_000_000;
    }

    private long nextVersion() {
        lastVersion = Version.next(lastVersion);
        return lastVersion;
    }

    synchronized void apply(Request request) {
        bits = 0;
        if (request.operation() == Operation.CLEAR) {
            forget(request.cacheId());
            cleared.put(request.cacheId(), nextVersion());
            request.answer(Status.OK, 0, lastVersion, 0);
            return;
        }
        final byte[] key =
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength());
        final Place place = new Place(request.hash(), request.cacheId(), key);
        final Item item = items.get(place);
        if (item != null && item.value != null && item.expiresAtMs <= nowMs()) {
            expire(request, item);
        }
        final boolean live = item != null && item.value != null;
        if (live) {
            bits |= ResultBits.EXISTED;
        }
        switch (request.operation()) {
            case GET -> get(request, item, live);
            case PUT -> put(request, place, item, live);
            case DELETE -> delete(request, item, live);
            case TOUCH -> touch(request, item, live);
            default -> request.answer(Status.BAD_REQUEST, 0, 0, 0);
        }
    }

    /** Logs the expiry of the object; the key then has no object. */
    private void expire(Request request, Item item) {
        bits |= ResultBits.EXPIRED;
        end(request, item);
    }

    private void end(Request request, Item item) {
        give(request, item);
        item.value = null;
        item.version = nextVersion();
    }

    private static void give(Request request, Item item) {
        if (request.needsValue()) {
            System.arraycopy(item.value, 0, request.resultOf(item.value.length), 0, item.value.length);
        }
    }

    private void get(Request request, Item item, boolean live) {
        if (!live) {
            request.answer(Status.NOT_FOUND, bits, lastVersion, 0);
            return;
        }
        final long version = item.version;
        final long expiryMs = request.needsExpiry() ? item.expiresAtMs : 0;
        give(request, item);
        access(request, item);
        request.answer(Status.OK, bits, version, expiryMs);
    }

    private void access(Request request, Item item) {
        final long ttl = request.accessTtlMs();
        if (ttl == Ttl.UNCHANGED) {
            return;
        }
        bits |= ResultBits.TOUCHED;
        if (ttl == Ttl.IMMEDIATE) {
            end(request, item);
        } else {
            item.expiresAtMs = after(ttl);
        }
    }

    private long after(long ttlMs) {
        final long end = nowMs() + ttlMs;
        return ttlMs == Ttl.ETERNAL || end < 0 ? NEVER : end;
    }

    /** OK if the condition holds, else the status to return. */
    private Status check(Request request, Item item, boolean live) {
        return switch (request.condition()) {
            case ALWAYS -> Status.OK;
            case IF_ABSENT -> live ? Status.CONDITION_FAILED : Status.OK;
            case IF_PRESENT -> live ? Status.OK : Status.NOT_FOUND;
            case IF_VERSION ->
                !live
                        ? Status.NOT_FOUND
                        : item.version == request.expectedVersion() ? Status.OK : Status.CONDITION_FAILED;
            case IF_ABSENT_SINCE ->
                live || newestMark(request, item) > request.expectedVersion() ? Status.CONDITION_FAILED : Status.OK;
        };
    }

    private long newestMark(Request request, Item item) {
        final long own = item == null ? 0 : item.version;
        return Math.max(own, cleared.getOrDefault(request.cacheId(), 0L));
    }

    private void refuse(Request request, Item item, boolean live, Status status) {
        final long version = live ? item.version : 0;
        if (live) {
            give(request, item);
            access(request, item);
        }
        request.answer(status, bits, version, 0);
    }

    private void put(Request request, Place place, Item item, boolean live) {
        final Status verdict = check(request, item, live);
        if (verdict != Status.OK) {
            refuse(request, item, live, verdict);
            return;
        }
        final long ttl = live ? request.updateTtlMs() : request.createTtlMs();
        final long previous = live ? item.version : 0;
        if (ttl == Ttl.IMMEDIATE) {
            bits |= ResultBits.BORN_EXPIRED;
            if (live) {
                end(request, item);
            }
            request.answer(Status.OK, bits, live ? lastVersion : 0, previous);
            return;
        }
        if (live) {
            give(request, item);
        }
        final Item stored = item == null ? new Item() : item;
        stored.value = Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
        stored.version = nextVersion();
        if (ttl != Ttl.UNCHANGED || !live) {
            stored.expiresAtMs = ttl == Ttl.UNCHANGED ? NEVER : after(ttl);
        }
        items.put(place, stored);
        bits |= live ? ResultBits.UPDATED : ResultBits.CREATED;
        request.answer(Status.OK, bits, stored.version, previous);
    }

    private void delete(Request request, Item item, boolean live) {
        final Status verdict = !live ? Status.NOT_FOUND : check(request, item, true);
        if (verdict != Status.OK) {
            refuse(request, item, live, verdict);
            return;
        }
        final long previous = item.version;
        end(request, item);
        request.answer(Status.OK, bits | ResultBits.REMOVED, item.version, previous);
    }

    private void touch(Request request, Item item, boolean live) {
        final Status verdict = check(request, item, live);
        if (verdict == Status.OK) {
            final long version = item.version;
            access(request, item);
            request.answer(Status.OK, bits, version, 0);
        } else {
            request.answer(verdict, bits, live ? item.version : 0, 0);
        }
    }

    synchronized ScanPage scan(int cacheId, long position, int limit, boolean withValues) {
        final List<ScanPage.Entry> entries = new ArrayList<>();
        final long now = nowMs();
        long at = position;
        for (Map.Entry<Place, Item> entry :
                items.tailMap(new Place(position, 0, new byte[0]), true).entrySet()) {
            final Place place = entry.getKey();
            final Item item = entry.getValue();
            if (entries.size() >= limit && place.position != at) {
                return new ScanPage(entries, place.position, false);
            }
            at = place.position;
            if (place.cacheId == cacheId && item.value != null && item.expiresAtMs > now) {
                entries.add(
                        new ScanPage.Entry(place.key.clone(), withValues ? item.value.clone() : null, item.version));
            }
        }
        return new ScanPage(entries, 0, true);
    }

    /** Drops the objects that a clear or the end of the cache removed; the caller stores the version. */
    synchronized void forget(int cacheId) {
        items.keySet().removeIf(place -> place.cacheId == cacheId);
    }
}
