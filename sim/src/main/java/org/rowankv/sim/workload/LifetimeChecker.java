package org.rowankv.sim.workload;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Ttl;

/**
 * The values that end by lifetime or eviction: from when on they may be gone, and by when they must be, on any node's
 * clock. Keys are keys of a history; each value belongs to one key.
 */
public final class LifetimeChecker {
    private static final long NEVER = Long.MAX_VALUE;
    /** Exceeds clock drift and millisecond rounding. */
    private static final long SLACK_NS = 2_000_000;

    private static final int SLACK_ONE_IN = 1_000;

    /** Bounds for one value. */
    private static final class Span {
        private long earliestNs = NEVER;
        private long latestNs = NEVER;
        private long evictableNs = NEVER;
        /** Return time of the last operation that set its lifetime. */
        private long givenNs = Long.MIN_VALUE;
        /** Number of operations that may set another lifetime, in progress or of unknown outcome. */
        private int open;

        private boolean isTouched;
        /** It was touched with zero lifetime, and the touch was acknowledged. */
        private boolean isEnded;
        /** It may have the lifetime of the object it replaced, which is unknown. */
        private boolean mayKeep;

        private @Nullable Span keptFrom;
    }

    /** Accesses to one key whose replies do not identify the values they found. */
    private static final class Accesses {
        private int open;
        private boolean isUnclear;
        private long earliestNs = NEVER;
    }

    private record Jump(long atNs, long byNs) {}

    private final Map<Long, Span> spans = new HashMap<>();
    private final Map<Integer, Set<Long>> sinceChecked = new HashMap<>();
    private final Map<Integer, Accesses> accesses = new HashMap<>();
    private final List<Jump> jumps = new ArrayList<>();

    private static long slackOf(long lifetimeMs) {
        return lifetimeMs == Ttl.IMMEDIATE ? 0 : SLACK_NS + lifetimeMs * 1_000_000 / SLACK_ONE_IN;
    }

    /** Saturating addition: clocks may jump by years, repeatedly. */
    private static long later(long atNs, long byNs) {
        return atNs >= NEVER - byNs ? NEVER : atNs + byNs;
    }

    private Span spanOf(int key, long value) {
        sinceChecked.computeIfAbsent(key, unused -> new HashSet<>()).add(value);
        return spans.computeIfAbsent(value, unused -> new Span());
    }

    /** Earliest end of an object that gets such a lifetime at that time or later. */
    private long earliest(long invokedNs, long lifetimeMs) {
        if (lifetimeMs == Ttl.ETERNAL) {
            return NEVER;
        }
        long earliest = invokedNs + lifetimeMs * 1_000_000 - slackOf(lifetimeMs);
        for (Jump jump : jumps) {
            if (jump.byNs() > 0 && jump.atNs() >= invokedNs) {
                earliest = Math.min(earliest, jump.atNs()); // perhaps it had the lifetime by then
            }
        }
        return earliest;
    }

    private long latest(long invokedNs, long returnedNs, long lifetimeMs) {
        if (lifetimeMs == Ttl.ETERNAL) {
            return NEVER;
        }
        long latest = returnedNs + lifetimeMs * 1_000_000 + slackOf(lifetimeMs);
        for (Jump jump : jumps) {
            if (jump.byNs() < 0 && jump.atNs() >= invokedNs) {
                latest = later(latest, -jump.byNs()); // perhaps after it was stored, and before the reply
            }
        }
        return latest;
    }

    // --- what is written ---

    /** A value is about to be written. */
    public void begins(int key, long value) {
        sinceChecked.computeIfAbsent(key, unused -> new HashSet<>()).add(value);
    }

    /** A value is about to be written, possibly with such a lifetime. */
    void begun(int key, long value, long invokedNs, long lifetimeMs) {
        final Span span = spanOf(key, value);
        span.earliestNs = Math.min(span.earliestNs, earliest(invokedNs, lifetimeMs));
    }

    /** A value is about to be written with the lifetime of the object it replaces. */
    void mayKeep(int key, long value) {
        spanOf(key, value).mayKeep = true;
    }

    /** A value is about to be written to a cache with a limit: from then on it may be evicted. */
    public void evictable(int key, long value, long invokedNs) {
        final Span span = spanOf(key, value);
        span.evictableNs = Math.min(span.evictableNs, invokedNs);
    }

    /** A value was written with this lifetime of its own. */
    void stored(long value, long invokedNs, long returnedNs, long lifetimeMs) {
        final Span span = spans.get(value);
        if (span != null) {
            span.mayKeep = false;
            if (!span.isTouched) {
                span.latestNs = latest(invokedNs, returnedNs, lifetimeMs);
                span.givenNs = returnedNs;
                if (span.open == 0) {
                    span.earliestNs = earliest(invokedNs, lifetimeMs); // it might have got another one
                }
            }
        }
    }

    /** A value was written with the lifetime of a former one. */
    void kept(int key, long value, long former, long returnedNs) {
        final Span span = spanOf(key, value);
        span.mayKeep = false;
        final Span from = spans.get(former);
        span.keptFrom = from != null ? from : spanOf(key, former);
        if (!span.isTouched) {
            span.latestNs = isUnclear(key) || span.keptFrom.open > 0 ? NEVER : span.keptFrom.latestNs;
            span.givenNs = returnedNs;
        }
    }

    // --- operations that change lifetimes ---

    /** An object is about to be touched. */
    void touchBegins(int key, long value, long invokedNs, long lifetimeMs) {
        final Span span = spanOf(key, value);
        span.earliestNs = Math.min(span.earliestNs, earliest(invokedNs, lifetimeMs));
        span.open++;
    }

    /** A touch was acknowledged with that effect. */
    void touched(int key, long value, long invokedNs, long returnedNs, long lifetimeMs) {
        final Span span = spanOf(key, value);
        span.open--;
        give(span, invokedNs, returnedNs, lifetimeMs);
    }

    /** A touch was acknowledged without effect. */
    void untouched(int key, long value) {
        spanOf(key, value).open--;
    }

    private void give(Span span, long invokedNs, long returnedNs, long lifetimeMs) {
        if (span.isEnded) {
            return;
        }
        if (lifetimeMs == Ttl.IMMEDIATE) {
            span.isTouched = true; // the reply to its write may arrive later, and must not remove the end
            span.isEnded = true;
            span.latestNs = returnedNs;
            return;
        }
        final long latest = latest(invokedNs, returnedNs, lifetimeMs);
        // Of overlapping ones any may have been the last.
        span.latestNs = span.isTouched && invokedNs <= span.givenNs ? Math.max(span.latestNs, latest) : latest;
        span.givenNs = Math.max(span.isTouched ? span.givenNs : Long.MIN_VALUE, returnedNs);
        span.isTouched = true;
    }

    /** An operation is about to change the lifetime of whatever object it finds. */
    void accessBegins(int key) {
        accesses.computeIfAbsent(key, unused -> new Accesses()).open++;
    }

    /** It has found that value, or none, and no copy of it will find any other. */
    void accessed(int key, long value, long invokedNs, long returnedNs, long lifetimeMs) {
        accesses.computeIfAbsent(key, unused -> new Accesses()).open--;
        if (value > Event.ABSENT) {
            final Span span = spanOf(key, value);
            span.earliestNs = Math.min(span.earliestNs, earliest(invokedNs, lifetimeMs));
            give(span, invokedNs, returnedNs, lifetimeMs);
        }
    }

    /** It may have found, or may still find, any value: one of its copies is in flight, or its fate is unknown. */
    void accessUnclear(int key, long invokedNs, long lifetimeMs) {
        final Accesses own = accesses.computeIfAbsent(key, unused -> new Accesses());
        own.open--;
        own.isUnclear = true;
        own.earliestNs = Math.min(own.earliestNs, earliest(invokedNs, lifetimeMs));
    }

    private boolean isUnclear(int key) {
        final Accesses own = accesses.get(key);
        return own != null && (own.open > 0 || own.isUnclear);
    }

    // --- results ---

    /** A clock jumped: a lifetime measured by it may end at once, or be extended by that amount. */
    public void jumped(long nowNs, long ms) {
        jumps.add(new Jump(nowNs, ms * 1_000_000));
        for (Span span : spans.values()) {
            if (ms > 0 && span.earliestNs != NEVER) {
                span.earliestNs = Math.min(span.earliestNs, nowNs);
            } else if (ms < 0 && span.latestNs != NEVER && !span.isEnded) {
                span.latestNs = later(span.latestNs, -ms * 1_000_000);
            }
        }
        for (Accesses each : accesses.values()) {
            if (ms > 0 && each.earliestNs != NEVER) {
                each.earliestNs = Math.min(each.earliestNs, nowNs);
            }
        }
    }

    /** Whether a value must have ended by that time, on every clock. */
    boolean isOver(int key, long value, long nowNs) {
        final Span span = spans.get(value);
        if (span == null || nowNs <= span.latestNs || span.latestNs == NEVER) {
            return false;
        }
        return span.isEnded || span.open == 0 && !isUnclear(key);
    }

    boolean isMortal(long value) {
        final Span span = spans.get(value);
        return span != null && (span.earliestNs != NEVER || span.latestNs != NEVER);
    }

    /**
     * Adds to a key's history the possible ends of its initial value and of the values written since. Precondition: no
     * operation is in progress.
     */
    void addTo(CallerLog log, int key, long held) {
        final Set<Long> values = sinceChecked.remove(key);
        final Set<Long> all = values == null ? new HashSet<>() : values;
        if (held > Event.ABSENT) {
            all.add(held);
        }
        final Accesses met = accesses.get(key);
        if (met == null || !met.isUnclear) {
            all.removeIf(value -> !spans.containsKey(value));
        }
        if (all.isEmpty()) {
            return;
        }
        long earliestOfAny = met == null ? NEVER : met.earliestNs;
        if (met != null && met.isUnclear) {
            for (long value : all) {
                final Span span = requireSpan(value);
                span.earliestNs = Math.min(span.earliestNs, met.earliestNs);
                span.latestNs = span.isEnded ? span.latestNs : NEVER;
            }
            accesses.remove(key);
        }
        for (long value : all) {
            earliestOfAny = Math.min(earliestOfAny, requireSpan(value).earliestNs);
        }
        for (long value : all) {
            final Span span = requireSpan(value);
            if (span.mayKeep) {
                span.mayKeep = false;
                span.earliestNs = Math.min(span.earliestNs, earliestOfAny);
                span.latestNs = span.isEnded ? span.latestNs : NEVER;
            }
        }
        for (long value : all) {
            final Span span = requireSpan(value);
            inherit(span);
            final long endsNs = Math.min(span.earliestNs, span.evictableNs);
            if (endsNs != NEVER) {
                log.add(key, end(value, endsNs));
            }
        }
    }

    private Span requireSpan(long value) {
        return spans.computeIfAbsent(value, unused -> new Span());
    }

    private static void inherit(Span span) {
        final Span from = span.keptFrom;
        if (from != null) {
            inherit(from);
            span.earliestNs = Math.min(span.earliestNs, from.earliestNs);
            span.keptFrom = null;
        }
    }

    private static Event end(long value, long earliestNs) {
        return new Event(
                -1, KeyAction.EXPIRY, value, 0, Outcome.UNKNOWN, 0, 0, Event.NOT_ASKED, earliestNs, Long.MAX_VALUE);
    }
}
