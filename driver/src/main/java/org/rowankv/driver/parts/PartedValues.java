package org.rowankv.driver.parts;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.topology.PartKeys;

/**
 * Completes the requests whose value is, or must be, in parts (docs/design/big-values.md): to the caller each is
 * one linearizable operation on the whole value. Thread-safe; needs memory for the value once more than its caller.
 */
public final class PartedValues {
    private final PartRequests requests;
    private final PartReader reader;
    private final PartWriter writer;
    private final Clock clock;
    private final long deadlineNs;
    private volatile int maxValue = PartList.MAX_VALUE;

    /**
     * @param firstId of the ids that this client gives to values; drawn at random
     * @param deadlineNs after which a value that always changes while it is read is given up
     */
    public PartedValues(PartRequests requests, PartKeys keys, Clock clock, long deadlineNs, long firstId) {
        this.requests = requests;
        this.reader = new PartReader(requests, keys, clock);
        this.writer = new PartWriter(requests, keys, firstId);
        this.clock = clock;
        this.deadlineNs = deadlineNs;
    }

    /**
     * Limits the values that are put; longer ones are refused as TOO_LARGE.
     *
     * @param bytes 0: none in parts
     * @throws IllegalArgumentException unless from 0 to {@link PartList#MAX_VALUE}
     */
    public void limit(long bytes) {
        if (bytes < 0 || bytes > PartList.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "the longest value has from 0 to " + PartList.MAX_VALUE + " bytes, not " + bytes);
        }
        maxValue = (int) bytes;
    }

    /** Executes the rest of a request that was answered with TOO_LARGE or IN_PARTS; the outcome is in it. */
    public void complete(Request request) {
        final long untilNs = clock.nanoTime() + deadlineNs;
        if (request.status() == Status.TOO_LARGE) {
            if (!mayBeCut(request)) {
                return;
            }
            if (!request.needsValue()) {
                writer.put(request);
                return;
            }
        }
        if (request.operation().isMutation()) {
            if (request.needsValue()) {
                changeWhole(request, untilNs);
            }
        } else {
            reader.complete(request, untilNs);
        }
    }

    private boolean mayBeCut(Request request) {
        return request.operation().isMutation()
                && request.valueLength() > PartWriter.LEAST_PART
                && request.valueLength() <= maxValue
                && !request.isInParts();
    }

    /**
     * Executes a mutation that returns the object it meets, where its value or the new one is in parts: reads the whole value,
     * then repeats the mutation on its version, until no other change comes between.
     */
    private void changeWhole(Request request, long untilNs) {
        final Condition condition = request.condition();
        final long expected = request.expectedVersion();
        final Request get = new Request();
        try {
            do {
                get.get(request.cacheId(), request.key(), request.keyOffset(), request.keyLength());
                requests.execute(get);
                reader.complete(get, untilNs);
                final boolean present = get.status() == Status.OK;
                if (!present && get.status() != Status.NOT_FOUND) {
                    request.fail(get.status() == Status.NO_REPLY ? Status.UNREACHABLE : get.status());
                    return;
                }
                final boolean holds = present
                        && switch (condition) {
                            case ALWAYS, IF_PRESENT -> true;
                            case IF_VERSION -> get.version() == expected;
                            case IF_ABSENT, IF_ABSENT_SINCE -> false;
                        };
                request.requestValue(!present)
                        .when(holds ? Condition.IF_VERSION : condition, holds ? get.version() : expected);
                execute(request);
                if (isDecided(request, get, present, holds)) {
                    return;
                }
            } while (clock.nanoTime() - untilNs < 0);
            request.fail(Status.UNREACHABLE); // every attempt was refused
        } finally {
            request.when(condition, expected).requestValue(true);
        }
    }

    /** Whether the mutation's outcome refers to the object that was read, or needs none. */
    private static boolean isDecided(Request request, Request get, boolean present, boolean holds) {
        final Status status = request.status();
        if (status == Status.IN_PARTS) {
            return false; // an object came meanwhile
        }
        if (!present) {
            return true;
        }
        final boolean refused = status == Status.CONDITION_FAILED || status == Status.NOT_FOUND;
        if (refused && (holds || status == Status.CONDITION_FAILED && request.version() != get.version())) {
            return false;
        }
        if (holds ? status == Status.OK : status == Status.CONDITION_FAILED) {
            request.result(get.result().length == get.resultLength() ? get.result() : copyOf(get));
        }
        return true;
    }

    private static byte[] copyOf(Request get) {
        final byte[] copy = get.resultBytes();
        return copy == null ? new byte[0] : copy;
    }

    private void execute(Request request) {
        requests.execute(request);
        if (request.status() == Status.TOO_LARGE && mayBeCut(request)) {
            writer.put(request);
        }
    }

    /**
     * A change with its whole value instead of the list of its parts.
     *
     * @return null if the parts are gone: the value was replaced since
     */
    public @Nullable Change whole(int cacheId, int shard, Change change) {
        final byte[] bytes = change.value();
        if (!change.inParts() || bytes == null) {
            return change;
        }
        final byte[] value = read(cacheId, shard, bytes);
        return value == null ? null : change.whole(value);
    }

    /** The value whose list of parts is given, as a change carries it; null if parts are gone or unreadable. */
    public byte @Nullable [] read(int cacheId, int shard, byte[] listBytes) {
        final PartList list = PartList.read(listBytes, 0, listBytes.length);
        if (list == null) {
            return null;
        }
        final byte[] value = new byte[list.length()];
        return reader.read(cacheId, shard, list, value) == Status.OK ? value : null;
    }
}
