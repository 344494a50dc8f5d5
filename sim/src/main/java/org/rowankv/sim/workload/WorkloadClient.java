package org.rowankv.sim.workload;

import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.RandomSource;

/**
 * One client: its requests, one at a time, and the check of its replies. The simulation transports the request: it
 * sends the one that {@link #begin} returns, and calls {@link #end} when that has its outcome.
 */
public final class WorkloadClient {
    /** Gives the values of different clients disjoint ids. */
    private static final int CALLER_SHIFT = 40;

    private static final int TRIES_FOR_LARGE = 100;

    private final int number;
    private final Workload workload;
    private final WorkloadBias inclination;
    private final Request request = new Request();
    private final ClientKnowledge known = new ClientKnowledge();
    private final OperationDraw draw;
    private final ResponseChecker checker;
    private final IssuedRequest asked;
    private long valueCount;
    private int attempts;

    WorkloadClient(int number, Workload workload, CallerLog log, RandomSource random, WorkloadBias inclination) {
        this.number = number;
        this.workload = workload;
        this.inclination = inclination;
        this.asked = new IssuedRequest(workload.caches().newest(0));
        this.draw = new OperationDraw(workload, random, inclination, known);
        this.checker = new ResponseChecker(number, workload, log, known);
    }

    /** Draws an operation; the caller sends the returned request. */
    public Request begin() {
        final long nowNs = workload.host().nowNs();
        draw.draw(asked, nowNs);
        asked.invokedNs = nowNs;
        attempts = 0;
        if (asked.action.stores()) {
            asked.written = nextValue(inclination.needsLarge());
        }
        noteLifetimes();
        return asked.phrase(request, workload.values());
    }

    /** An attempt is sent, of the request itself or of a preceding one. */
    public void sends(Request attempt) {
        attempts += attempt == request ? 1 : 0;
    }

    /** The request has its outcome. */
    public void end() {
        checker.check(asked, request, workload.host().nowNs(), attempts);
    }

    /** The request will have no outcome. */
    public void giveUp() {
        request.clearAnswer();
        request.answer(Status.OUTCOME_UNKNOWN, 0, 0, 0);
        end();
    }

    public String label() {
        return asked.action.label();
    }

    public Request request() {
        return request;
    }

    private void noteLifetimes() {
        final LifetimeChecker lifetimes = workload.lifetimes();
        final int history = asked.history();
        if (asked.action.stores()) {
            lifetimes.begins(history, asked.written);
            for (int i = 0; i < 2; i++) {
                final long ms = i == 0 ? asked.createMs : asked.updateMs;
                if (ms != Ttl.ETERNAL && ms > Ttl.IMMEDIATE) {
                    lifetimes.begun(history, asked.written, asked.invokedNs, ms);
                }
            }
            if (asked.updateMs == Ttl.UNCHANGED) {
                lifetimes.mayKeep(history, asked.written);
            }
            if (!asked.cache.limit().equals(CacheLimit.NONE)) {
                lifetimes.evictable(history, asked.written, asked.invokedNs);
            }
        }
        if (asked.isAccess()) {
            lifetimes.accessBegins(history);
        } else if (asked.touchedValue != Event.ABSENT) {
            lifetimes.touchBegins(history, asked.touchedValue, asked.invokedNs, asked.accessMs);
        }
    }

    private long nextValue(boolean large) {
        long value = valueAt(++valueCount);
        for (int i = 0; large && i < TRIES_FOR_LARGE && !workload.values().isLarge(value); i++) {
            value = valueAt(++valueCount);
        }
        return value;
    }

    private long valueAt(long count) {
        return ((number + 1L) << CALLER_SHIFT) + count;
    }
}
