package org.rowankv.driver.parts;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.topology.PartKeys;

/** Reads the parts that a list names, and puts them together. Thread-safe. */
final class PartReader {
    private final PartRequests requests;
    private final PartKeys keys;
    private final Clock clock;

    PartReader(PartRequests requests, PartKeys keys, Clock clock) {
        this.requests = requests;
        this.keys = keys;
        this.clock = clock;
    }

    /**
     * Completes a GET that was answered with a list: reads it again as long as parts of an ended value are missing.
     *
     * @param untilNs deadline; then the status is NO_REPLY
     */
    void complete(Request get, long untilNs) {
        while (get.status() == Status.IN_PARTS) {
            final PartList list = get.hasResult() ? PartList.read(get.result(), 0, get.resultLength()) : null;
            if (list == null) {
                get.fail(Status.CORRUPTED);
                return;
            }
            final byte[] value = new byte[list.length()];
            final Status found = read(get.cacheId(), get.shard(), list, value);
            if (found == Status.OK) {
                get.answer(Status.OK, get.bits(), get.version(), get.previousVersion());
                get.result(value);
                return;
            }
            if (found != Status.NOT_FOUND) {
                get.fail(found);
                return;
            }
            readAgain(get, untilNs);
        }
    }

    /** Another list, or none, has another version: parts are removed only after their list. */
    private void readAgain(Request get, long untilNs) {
        final long version = get.version();
        if (clock.nanoTime() - untilNs >= 0) {
            get.fail(Status.NO_REPLY);
            return;
        }
        requests.execute(get);
        if (get.status() == Status.IN_PARTS && get.version() == version) {
            get.fail(Status.PARTS_MISSING);
        }
    }

    /**
     * Reads the parts into the value.
     *
     * @return OK; NOT_FOUND if some part is missing; CORRUPTED if they are not the value; else why a part was not read
     */
    Status read(int cacheId, int shard, PartList list, byte[] value) {
        final int window = Math.min(requests.window(), list.count());
        final List<Request> gets = new ArrayList<>(window);
        for (int i = 0; i < window; i++) {
            gets.add(new Request());
        }
        for (int next = 0; next < list.count(); next += window) {
            final List<Request> batch = gets.subList(0, Math.min(window, list.count() - next));
            for (int i = 0; i < batch.size(); i++) {
                final byte[] key = keys.key(Parts.of(cacheId), shard, list.id(), next + i);
                batch.get(i).get(Parts.of(cacheId), key, 0, key.length);
            }
            requests.executeAll(batch);
            for (int i = 0; i < batch.size(); i++) {
                final Status copied = copy(batch.get(i), list, next + i, value);
                if (copied != Status.OK) {
                    return copied;
                }
            }
        }
        return PartList.crcOf(value, 0, value.length) == list.crc() ? Status.OK : Status.CORRUPTED;
    }

    private static Status copy(Request part, PartList list, int number, byte[] value) {
        if (part.status() != Status.OK) {
            return part.status();
        }
        if (part.resultLength() != list.lengthOf(number)) {
            return Status.CORRUPTED;
        }
        System.arraycopy(part.result(), 0, value, list.offsetOf(number), part.resultLength());
        return Status.OK;
    }
}
