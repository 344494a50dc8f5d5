package org.rowankv.sim.workload;

import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.Version;

/**
 * Checker of one client's replies, as far as each can be checked by itself; it writes them into the history for the
 * other checks.
 *
 * <p>A write of an immediately expiring value stores nothing. The history records its effect: it removes the existing
 * object, or finds none.
 */
final class ResponseChecker {
    private final int number;
    private final Workload workload;
    private final CallerLog log;
    private final ClientKnowledge known;

    ResponseChecker(int number, Workload workload, CallerLog log, ClientKnowledge known) {
        this.number = number;
        this.workload = workload;
        this.log = log;
        this.known = known;
    }

    void check(IssuedRequest asked, Request request, long returnedNs, int attempts) {
        final Status status = request.status();
        final Outcome outcome = outcomeOf(status);
        final long observed = observed(asked, request, outcome);
        final boolean wasPresent = wasPresent(asked, request, outcome);
        final long met = wasPresent ? met(asked, request, outcome, observed) : Event.ABSENT;
        checkCache(asked, request, outcome, returnedNs);
        workload.counts().count(asked.action, asked.condition, asked.lifetime, outcome, status);
        workload.coverage()
                .count(
                        asked.action,
                        asked.condition,
                        asked.lifetime,
                        shown(asked, request, outcome, wasPresent, met, returnedNs));
        if (met > Event.ABSENT && workload.lifetimes().isOver(asked.history(), met, asked.invokedNs)) {
            violation("value #" + Long.toHexString(met) + " was met by " + asked
                    + " after its lifetime was over on every clock");
        }
        if (outcome == Outcome.DONE) {
            checkBits(asked, request);
        }
        noteLifetimes(asked, request, outcome, met, returnedNs, attempts);
        if (asked.action == KeyAction.GET && (outcome == Outcome.REFUSED || outcome == Outcome.UNKNOWN)) {
            return; // no information
        }
        learn(asked, request, outcome, observed);
        record(asked, request, outcome, observed, returnedNs);
    }

    private void violation(String what) {
        workload.host().violation("client " + number + ": " + what);
    }

    private Outcome outcomeOf(Status status) {
        return switch (status) {
            case OK -> Outcome.DONE;
            case NOT_FOUND -> Outcome.NOT_FOUND;
            case CONDITION_FAILED -> Outcome.CONDITION_FAILED;
            case OUTCOME_UNKNOWN -> Outcome.UNKNOWN;
            default -> {
                if (status != Status.UNKNOWN_CACHE && !workload.host().mayRefuse(status)) {
                    violation("got the answer " + status + ", which no client should see");
                }
                yield Outcome.REFUSED;
            }
        };
    }

    private long observed(IssuedRequest asked, Request request, Outcome outcome) {
        if (!asked.needsOld || outcome != Outcome.DONE && outcome != Outcome.CONDITION_FAILED) {
            return Event.NOT_ASKED;
        }
        if (request.hasResult() && request.has(ResultBits.EXISTED)) {
            return workload.values().idIn(request.result(), request.resultLength());
        }
        return outcome == Outcome.DONE ? Event.ABSENT : Event.NOT_ASKED;
    }

    /** Whether the operation found an object, as far as its reply shows. */
    private static boolean wasPresent(IssuedRequest asked, Request request, Outcome outcome) {
        return switch (outcome) {
            case DONE ->
                asked.action == KeyAction.GET || asked.action == KeyAction.TOUCH || request.previousVersion() != 0;
            case CONDITION_FAILED -> request.version() != 0;
            case NOT_FOUND, REFUSED, UNKNOWN -> false;
        };
    }

    /** The value that it found, or ABSENT if unknown. */
    private long met(IssuedRequest asked, Request request, Outcome outcome, long observed) {
        if (observed > Event.ABSENT) {
            return observed;
        }
        final boolean namesIt =
                outcome == Outcome.CONDITION_FAILED || asked.action == KeyAction.GET || asked.action == KeyAction.TOUCH;
        return workload.valueOf(asked.history(), namesIt ? request.version() : request.previousVersion());
    }

    private void checkCache(IssuedRequest asked, Request request, Outcome outcome, long returnedNs) {
        if (request.status() == Status.UNKNOWN_CACHE) {
            workload.caches().refused(asked.cache, request.shard(), returnedNs);
        } else if (outcome == Outcome.DONE || outcome == Outcome.NOT_FOUND || outcome == Outcome.CONDITION_FAILED) {
            workload.caches().accepted(asked.cache, request.shard(), asked.invokedNs, asked.toString());
        }
    }

    private KeyState shown(
            IssuedRequest asked, Request request, Outcome outcome, boolean wasPresent, long met, long returnedNs) {
        if (request.status() == Status.UNKNOWN_CACHE) {
            return KeyState.DESTROYED;
        }
        if (outcome == Outcome.UNKNOWN || outcome == Outcome.REFUSED) {
            return outcome == Outcome.UNKNOWN ? KeyState.UNANSWERED : KeyState.REFUSED;
        }
        if (request.has(ResultBits.REPLAYED)) {
            return KeyState.REPLAYED;
        }
        if (request.has(ResultBits.EXPIRED)) {
            return KeyState.EXPIRED;
        }
        if (asked.action == KeyAction.CLEAR) {
            return KeyState.NOT_SHOWN;
        }
        if (wasPresent) {
            return workload.lifetimes().isMortal(met) ? KeyState.MORTAL : KeyState.PRESENT;
        }
        final long last = known.value(asked.history());
        return last > Event.ABSENT
                        && !asked.cache.limit().equals(CacheLimit.NONE)
                        && !workload.lifetimes().isOver(asked.history(), last, returnedNs)
                ? KeyState.EVICTED
                : KeyState.ABSENT;
    }

    /** Checks that the reply's bits about the former and the new object agree with each other and with the request. */
    private void checkBits(IssuedRequest asked, Request request) {
        final boolean damaged = metDamage(asked, request);
        if (damaged) {
            workload.host().requireDamage();
        }
        final boolean existed = request.previousVersion() != 0 || damaged;
        if (asked.action.stores()) {
            // A damaged object passes no lifetime on.
            final boolean endsAtOnce = (existed && !damaged ? asked.updateMs : asked.createMs) == Ttl.IMMEDIATE;
            if (request.has(ResultBits.EXISTED) != existed
                    || request.has(ResultBits.BORN_EXPIRED) != endsAtOnce
                    || request.has(ResultBits.UPDATED) != (existed && !endsAtOnce)
                    || request.has(ResultBits.CREATED) != (!existed && !endsAtOnce)) {
                violation(asked + " was answered the bits " + Integer.toBinaryString(request.bits())
                        + ", which do not agree with the previous version " + request.previousVersion());
            }
        } else if (asked.action.removes() && asked.action != KeyAction.CLEAR) {
            if (!request.has(ResultBits.EXISTED) || !request.has(ResultBits.REMOVED)) {
                violation(asked + " was answered the bits " + Integer.toBinaryString(request.bits())
                        + ", and has removed something");
            }
        }
    }

    /** Whether a write that does not request the former value has found an unreadable one. */
    private static boolean metDamage(IssuedRequest asked, Request request) {
        return (asked.action == KeyAction.PUT || asked.action == KeyAction.REMOVE)
                && !asked.needsOld
                && request.status() == Status.OK
                && request.has(ResultBits.EXISTED)
                && request.previousVersion() == Version.NONE;
    }

    /** Whether a value was stored that did not expire at once. */
    private static boolean hasStored(IssuedRequest asked, Request request, Outcome outcome) {
        return asked.action.stores() && outcome == Outcome.DONE && !request.has(ResultBits.BORN_EXPIRED);
    }

    private void noteLifetimes(
            IssuedRequest asked, Request request, Outcome outcome, long met, long returnedNs, int attempts) {
        final LifetimeChecker lifetimes = workload.lifetimes();
        final int history = asked.history();
        final boolean isTouched = request.has(ResultBits.TOUCHED);
        if (hasStored(asked, request, outcome)) {
            noteStored(asked, request, met, returnedNs);
        } else if (asked.action.stores() && outcome == Outcome.DONE) {
            workload.host().count("objects that a write ended at once");
        }
        if (asked.isAccess()) {
            final boolean isAnswered = outcome == Outcome.DONE
                    || outcome == Outcome.NOT_FOUND
                    || outcome == Outcome.CONDITION_FAILED
                    || request.status() == Status.UNKNOWN_CACHE;
            final boolean isOnce = attempts == 1 && workload.host().losesNothing() && isAnswered;
            if (isOnce && (!isTouched || met > Event.ABSENT)) {
                lifetimes.accessed(
                        history, isTouched ? met : Event.ABSENT, asked.invokedNs, returnedNs, asked.accessMs);
            } else {
                lifetimes.accessUnclear(history, asked.invokedNs, asked.accessMs);
            }
            if (isTouched) {
                workload.host().count("accesses that gave a lifetime");
            }
        } else if (asked.touchedValue != Event.ABSENT && outcome != Outcome.UNKNOWN) {
            if (outcome == Outcome.DONE && isTouched) {
                lifetimes.touched(history, asked.touchedValue, asked.invokedNs, returnedNs, asked.accessMs);
            } else {
                lifetimes.untouched(history, asked.touchedValue);
            }
        }
    }

    private void noteStored(IssuedRequest asked, Request request, long met, long returnedNs) {
        final boolean isCreated = request.previousVersion() == 0;
        final long lifetimeMs = isCreated ? asked.createMs : asked.updateMs;
        if (lifetimeMs != Ttl.UNCHANGED) {
            workload.lifetimes().stored(asked.written, asked.invokedNs, returnedNs, lifetimeMs);
        } else if (isCreated) {
            workload.lifetimes().stored(asked.written, asked.invokedNs, returnedNs, Ttl.ETERNAL);
        } else if (met > Event.ABSENT) {
            workload.lifetimes().kept(asked.history(), asked.written, met, returnedNs);
            if (workload.lifetimes().isMortal(met)) {
                workload.host().count("lifetimes that were kept");
            }
        }
    }

    private void learn(IssuedRequest asked, Request request, Outcome outcome, long observed) {
        final int history = asked.history();
        if (outcome == Outcome.NOT_FOUND) {
            known.met(history, known.version(history), Event.ABSENT);
            if (asked.action == KeyAction.GET) {
                known.missed(history, request.version());
            }
            return;
        }
        if (outcome != Outcome.DONE && outcome != Outcome.CONDITION_FAILED) {
            return;
        }
        final boolean isOver = asked.accessMs == Ttl.IMMEDIATE && request.has(ResultBits.TOUCHED);
        if (hasStored(asked, request, outcome)) {
            known.met(history, request.version(), asked.written);
            workload.isOf(history, request.version(), asked.written);
        } else if (isOver) {
            known.met(history, request.version(), Event.ABSENT);
        } else if (asked.action == KeyAction.GET || outcome == Outcome.CONDITION_FAILED) {
            known.met(history, request.version(), observed);
            if (observed > Event.ABSENT) {
                workload.isOf(history, request.version(), observed);
            }
        } else if (asked.action != KeyAction.TOUCH) {
            known.met(history, request.version(), Event.ABSENT);
        }
    }

    // --- the history ---

    private void record(IssuedRequest asked, Request request, Outcome outcome, long observed, long returnedNs) {
        if (outcome == Outcome.UNKNOWN && asked.mayEndAtOnce()) {
            recordEither(asked, request, returnedNs);
            return;
        }
        Event event = event(asked, request, asked.action, outcome, observed, returnedNs);
        if (asked.action.stores() && outcome == Outcome.DONE && !hasStored(asked, request, outcome)) {
            event = event.previousVersion() == Version.NONE
                    ? event(asked, request, KeyAction.REMOVE, Outcome.NOT_FOUND, Event.NOT_ASKED, returnedNs)
                    : event(asked, request, removal(asked), outcome, observed, returnedNs);
        }
        if (workload.host().isRead()) {
            workload.host().tell("client " + number + " " + asked + ": " + request.status() + " " + event);
        }
        if (event.outcome() == Outcome.DONE && event.action().makesVersion()) {
            workload.versions().given(request.shard(), event.version(), number, asked.invokedNs);
        }
        if (event.action() == KeyAction.PUT_IF_ABSENT_SINCE && event.outcome() == Outcome.DONE) {
            workload.host().count("writes that nothing had come between");
        }
        if (event.action() != KeyAction.CLEAR) {
            log.add(asked.history(), event);
            return;
        }
        for (int key = 0; key < asked.cache.keys(); key++) {
            if (asked.cache.shardOf(key) == request.shard()) {
                log.add(asked.cache.history(key), event);
            }
        }
    }

    /** The effect of a write with zero lifetime where an object exists. */
    private static KeyAction removal(IssuedRequest asked) {
        return asked.action == KeyAction.REPLACE_IF_VERSION ? KeyAction.REMOVE_IF_VERSION : KeyAction.REMOVE;
    }

    /** The reply is missing, and the effect depends on the object found: either effect is possible. */
    private void recordEither(IssuedRequest asked, Request request, long returnedNs) {
        final boolean creates = asked.action != KeyAction.REPLACE && asked.action != KeyAction.REPLACE_IF_VERSION;
        final boolean updates = !asked.action.requiresAbsence();
        if (creates && asked.createMs != Ttl.IMMEDIATE) {
            recordUnknown(asked, request, KeyAction.PUT_IF_ABSENT, returnedNs);
        }
        if (updates && asked.updateMs == Ttl.IMMEDIATE) {
            recordUnknown(asked, request, removal(asked), returnedNs);
        } else if (updates) {
            final KeyAction action =
                    asked.action == KeyAction.REPLACE_IF_VERSION ? KeyAction.REPLACE_IF_VERSION : KeyAction.REPLACE;
            recordUnknown(asked, request, action, returnedNs);
        }
    }

    private void recordUnknown(IssuedRequest asked, Request request, KeyAction action, long returnedNs) {
        log.add(asked.history(), event(asked, request, action, Outcome.UNKNOWN, Event.NOT_ASKED, returnedNs));
    }

    private Event event(
            IssuedRequest asked, Request request, KeyAction action, Outcome outcome, long observed, long returnedNs) {
        return new Event(
                number,
                action,
                action.stores() ? asked.written : Event.ABSENT,
                action.namesVersion() ? asked.expectedVersion : 0,
                outcome,
                outcome == Outcome.NOT_FOUND && action != KeyAction.GET ? 0 : request.version(),
                outcome == Outcome.DONE && metDamage(asked, request)
                        ? Event.UNKNOWN_VERSION
                        : request.previousVersion(),
                observed,
                asked.invokedNs,
                returnedNs);
    }
}
