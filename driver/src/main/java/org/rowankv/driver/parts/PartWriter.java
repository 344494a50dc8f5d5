package org.rowankv.driver.parts;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.topology.PartKeys;

/**
 * Puts a value in parts: all parts, then the list, whose put is the operation. Until then nothing refers to the parts; if the list is
 * not put, they are removed. Thread-safe.
 */
final class PartWriter {
    /** Shorter values are not cut: if their entry is too long, it is for another reason. */
    static final int LEAST_PART = 4 << 10;

    private static final int FIRST_PART = 512 << 10;
    /** An entry of a quarter of a segment leaves little unused at its end. */
    private static final int PARTS_PER_SEGMENT = 4;

    private static final int MAX_ATTEMPTS = 4;

    private final PartRequests requests;
    private final PartKeys keys;
    /** Ids of this client; each is used once. */
    private final AtomicLong nextId;

    /** Bytes of a part: learned, since only servers know how long an entry may be. */
    private volatile int partLength = FIRST_PART;

    PartWriter(PartRequests requests, PartKeys keys, long firstId) {
        this.requests = requests;
        this.keys = keys;
        this.nextId = new AtomicLong(firstId);
    }

    /** Executes a PUT that was refused as TOO_LARGE; the outcome is in the request. */
    void put(Request put) {
        if (put.valueLength() <= LEAST_PART || isSureToFail(put)) {
            return;
        }
        boolean isRefused = false;
        for (int attempt = 0; attempt < MAX_ATTEMPTS; ) {
            final int length = partLength;
            final PartList list =
                    PartList.of(nextId.getAndIncrement(), put.value(), put.valueOffset(), put.valueLength(), length);
            final List<byte[]> placed = new ArrayList<>();
            final Status sent = send(put, list, placed);
            if (sent == Status.OK) {
                putList(put, list);
            }
            if (sent != Status.OK || isUnused(put)) {
                remove(put.cacheId(), placed);
            }
            if (sent == Status.TOO_LARGE && length > LEAST_PART) {
                isRefused = true;
                partLength = Math.max(LEAST_PART, length / 2);
                continue;
            }
            // An id in use, or parts that were collected meanwhile: once more under another id.
            if (sent == Status.CONDITION_FAILED || sent == Status.OK && put.status() == Status.PARTS_MISSING) {
                put.fail(Status.PARTS_MISSING);
                attempt++;
                continue;
            }
            if (sent != Status.OK) {
                put.fail(refusalOf(sent));
            } else if (isRefused) {
                partLength = Math.max(LEAST_PART, length / PARTS_PER_SEGMENT); // of the next value
            }
            return;
        }
    }

    /** A part without an answer may be there: it is an orphan; but the value is not. */
    private static Status refusalOf(Status ofPart) {
        return ofPart == Status.OUTCOME_UNKNOWN || ofPart == Status.NO_REPLY ? Status.UNREACHABLE : ofPart;
    }

    /** Whether the condition fails now, as far as a read without an effect shows; then this is the outcome. */
    private boolean isSureToFail(Request put) {
        if (put.condition() == Condition.ALWAYS || put.needsValue() || put.accessTtlMs() != Ttl.UNCHANGED) {
            return false;
        }
        final Request look = new Request()
                .get(put.cacheId(), put.key(), put.keyOffset(), put.keyLength())
                .requestValue(false);
        requests.execute(look);
        final boolean present = look.status() == Status.OK;
        if (!present && look.status() != Status.NOT_FOUND) {
            return false;
        }
        final boolean holds = switch (put.condition()) {
            case ALWAYS -> true;
            case IF_ABSENT, IF_ABSENT_SINCE -> !present;
            case IF_PRESENT -> present;
            case IF_VERSION -> present && look.version() == put.expectedVersion();
        };
        if (!holds) {
            put.noResult();
            put.answer(
                    present ? Status.CONDITION_FAILED : Status.NOT_FOUND, look.bits(), present ? look.version() : 0, 0);
        }
        return !holds;
    }

    /** Puts the parts; OK, or why one was not put. */
    private Status send(Request put, PartList list, List<byte[]> placed) {
        final int window = requests.window();
        int next = 0;
        while (next < list.count()) {
            // The first one alone: it may be too long.
            final int count = next == 0 ? 1 : Math.min(window, list.count() - next);
            final List<Request> batch = new ArrayList<>(count);
            for (int number = next; number < next + count; number++) {
                final byte[] key = keys.key(Parts.of(put.cacheId()), put.shard(), list.id(), number);
                batch.add(new Request()
                        .put(
                                Parts.of(put.cacheId()),
                                key,
                                0,
                                key.length,
                                put.value(),
                                put.valueOffset() + list.offsetOf(number),
                                list.lengthOf(number))
                        .when(Condition.IF_ABSENT));
            }
            requests.executeAll(batch);
            Status refused = Status.OK;
            for (Request part : batch) {
                if (part.status() == Status.OK) {
                    placed.add(part.key());
                } else {
                    refused = part.status();
                }
            }
            if (refused != Status.OK) {
                return refused;
            }
            next += count;
        }
        return Status.OK;
    }

    private void putList(Request put, PartList list) {
        final byte[] bytes = list.toBytes();
        final Request ofList = new Request()
                .put(put.cacheId(), put.key(), put.keyOffset(), put.keyLength(), bytes, 0, bytes.length)
                .when(put.condition(), put.expectedVersion())
                .ttl(put.createTtlMs(), put.updateTtlMs())
                .accessTtl(put.accessTtlMs())
                .requestValue(put.needsValue())
                .inParts(true);
        requests.execute(ofList);
        put.answer(ofList.status(), ofList.bits(), ofList.version(), ofList.previousVersion());
        if (ofList.hasResult()) {
            System.arraycopy(ofList.result(), 0, put.resultOf(ofList.resultLength()), 0, ofList.resultLength());
        } else {
            put.noResult();
        }
    }

    /** Whether the list was certainly not stored. */
    private static boolean isUnused(Request put) {
        return switch (put.status()) {
            case OK -> put.has(ResultBits.BORN_EXPIRED);
            case OUTCOME_UNKNOWN, NO_REPLY -> false;
            default -> true;
        };
    }

    /** What is not removed here becomes an orphan. */
    private void remove(int cacheId, List<byte[]> partKeys) {
        final int window = requests.window();
        for (int next = 0; next < partKeys.size(); next += window) {
            final List<Request> batch = new ArrayList<>(window);
            for (byte[] key : partKeys.subList(next, Math.min(partKeys.size(), next + window))) {
                batch.add(new Request().delete(Parts.of(cacheId), key, 0, key.length));
            }
            requests.executeAll(batch);
        }
    }
}
