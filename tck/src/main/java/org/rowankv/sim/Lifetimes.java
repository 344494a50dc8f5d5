package org.rowankv.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.check.history.Action;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;

/**
 * The values that end by themselves, by lifetime or eviction: from when on they may be gone, and by when they must be, on
 * any node's clock.
 */
final class Lifetimes {
    /** More than clocks drift apart, and what is lost by counting in milliseconds. */
    private static final long SLACK_NS = 2_000_000;

    private final Map<Long, Long> earliestEndNs = new HashMap<>();
    private final Map<Long, Long> latestEndNs = new HashMap<>();

    private record SetBack(long atNs, long byNs) {}

    private final List<SetBack> setBacks = new ArrayList<>();

    private final Map<Integer, List<Long>> sinceJudged = new HashMap<>();

    private static long slackOf(long lifetimeMs) {
        return SLACK_NS + lifetimeMs * 1_000_000 / 1_000;
    }

    /** A value is about to get a lifetime: its first, or by a touch another one. */
    void begun(int key, long value, long invokedNs, long lifetimeMs) {
        sinceJudged.computeIfAbsent(key, unused -> new ArrayList<>()).add(value);
        earliestEndNs.merge(value, invokedNs + lifetimeMs * 1_000_000 - slackOf(lifetimeMs), Math::min);
    }

    /** A value is about to be written to a cache with a limit: from then on it may be evicted. */
    void evictable(int key, long value, long invokedNs) {
        sinceJudged.computeIfAbsent(key, unused -> new ArrayList<>()).add(value);
        earliestEndNs.merge(value, invokedNs, Math::min);
    }

    void stored(long value, long invokedNs, long returnedNs, long lifetimeMs) {
        long latest = returnedNs + lifetimeMs * 1_000_000 + slackOf(lifetimeMs);
        for (SetBack setBack : setBacks) {
            if (setBack.atNs() >= invokedNs) {
                latest += setBack.byNs(); // perhaps after it was stored, and before that was answered
            }
        }
        latestEndNs.put(value, latest);
    }

    /** A clock jumped: what has a lifetime by it may end at once, or live longer by as much. */
    void jumped(long nowNs, long ms) {
        if (ms > 0) {
            earliestEndNs.replaceAll((value, end) -> Math.min(end, nowNs));
        } else {
            setBacks.add(new SetBack(nowNs, -ms * 1_000_000));
            latestEndNs.replaceAll((value, end) -> end - ms * 1_000_000);
        }
    }

    boolean isOver(long value, long nowNs) {
        final Long latest = latestEndNs.get(value);
        return latest != null && nowNs > latest;
    }

    /**
     * Adds to a key's history the possible ends of what it held when the history began, and of what was written since.
     */
    void addTo(CallerLog log, int key, long held) {
        add(log, key, held);
        final List<Long> written = sinceJudged.remove(key);
        if (written != null) {
            written.stream().distinct().forEach(value -> add(log, key, value));
        }
    }

    private void add(CallerLog log, int key, long value) {
        final Long earliest = earliestEndNs.get(value);
        if (earliest != null) {
            log.add(
                    key,
                    new Event(
                            -1,
                            Action.EXPIRY,
                            value,
                            0,
                            Outcome.UNKNOWN,
                            0,
                            0,
                            Event.NOT_ASKED,
                            earliest,
                            Long.MAX_VALUE));
        }
    }
}
