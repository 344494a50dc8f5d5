package org.rowankv.check.verify;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Event;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Objects that one caller writes once, or very rarely, and no other caller touches. On the few keys of the history
 * every loss is soon overwritten; here it stays, on a replica too. Owned by its caller; checked when that one pauses.
 */
final class CallerBallast {
    private static final int KEYS = 1_000;
    /** Above the ids of the caller's other values. */
    private static final long FIRST_VALUE = 1L << 39;

    private final int caller;
    private final RowanClient client;
    private final int cacheId;
    private final long ids;
    /** The id last acknowledged; ABSENT: none; NOT_ASKED: unknown, because a reply is missing. */
    private final long[] acked = new long[KEYS];

    private final Request request = new Request();
    private int written;

    CallerBallast(int caller, RowanClient client, int cacheId, long ids) {
        this.caller = caller;
        this.client = client;
        this.cacheId = cacheId;
        this.ids = ids;
    }

    private byte[] key(int index) {
        return ("ballast " + caller + " " + index).getBytes(StandardCharsets.UTF_8);
    }

    void putNext() {
        final int index = written % KEYS;
        final long id = ids + FIRST_VALUE + ++written;
        final byte[] key = key(index);
        final byte[] value = StampedValue.of(id);
        client.execute(request.put(cacheId, key, 0, key.length, value, 0, value.length));
        switch (request.status()) {
            case OK -> acked[index] = id;
            case OUTCOME_UNKNOWN -> acked[index] = Event.NOT_ASKED;
            case FULL, UNREACHABLE -> {}
            default -> throw new IllegalStateException("a reply that no caller should see: " + request.status());
        }
    }

    /** Returns where the store lacks what it acknowledged. */
    List<String> check(RowanClient client) {
        final List<String> differences = new ArrayList<>();
        for (int index = 0; index < KEYS; index++) {
            if (acked[index] == Event.NOT_ASKED) {
                continue;
            }
            final byte[] key = key(index);
            client.execute(request.get(cacheId, key, 0, key.length));
            final long found = request.status() == Status.OK
                    ? StampedValue.idIn(request.result(), request.resultLength())
                    : Event.ABSENT;
            if (found != acked[index]) {
                differences.add(new String(key, StandardCharsets.UTF_8) + " was acknowledged with value #"
                        + acked[index] + " and holds #" + found);
            }
        }
        return differences;
    }
}
