package org.rowankv.runtime;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sink for failures of agents: counts every failure, keeps and logs each distinct one.
 *
 * <p>Two failures are the same if reporter, type and stack are equal. The first is logged with its stack, or in one
 * line if it is expected; later ones are logged at 10, 100, 1000 … repeats, and after an hour without one. At most
 * {@value #MAX_DISTINCT} distinct failures are kept. Further ones share one last observation, logged at the same pace; but
 * each agent that stops is logged with its stack, however many failures there were. So no failure is lost and memory stays
 * bounded.
 *
 * <p>Safe for any thread. Off the data path: it locks, allocates and writes a log.
 */
public final class ErrorLog {
    public static final int MAX_DISTINCT = 256;

    private static final Logger LOG = LoggerFactory.getLogger(ErrorLog.class);
    private static final String OVERFLOW = "further distinct failures";

    private final Clock clock;
    private final Map<List<Object>, Observation> observations = new LinkedHashMap<>();
    private long count;
    private @Nullable AgentStoppedException broken;
    private Consumer<AgentStoppedException> whenBroken = why -> {};

    public ErrorLog(Clock clock) {
        this.clock = clock;
    }

    /**
     * One distinct failure.
     *
     * @param where the reporter
     * @param type class name of the throwable
     * @param message message of the first occurrence
     */
    public record Observation(String where, String type, String message, long count, long firstMs, long lastMs) {
        Observation again(long nowMs) {
            return new Observation(where, type, message, count + 1, firstMs, nowMs);
        }
    }

    /**
     * Reports that a broken invariant or an error stopped an agent. Ends the service by {@link #whenBroken} first, so
     * that no answer depends on broken state; reports afterwards.
     */
    public void broken(String roleName, Throwable failure) {
        final AgentStoppedException why = new AgentStoppedException(roleName, failure);
        final Consumer<AgentStoppedException> ending;
        synchronized (this) {
            ending = broken == null ? whenBroken : again -> {};
            broken = broken == null ? why : broken;
        }
        try {
            ending.accept(why);
        } finally {
            record(roleName + " (stopped by a broken invariant)", failure, Kind.STOPPED);
        }
    }

    /**
     * Sets the callback that ends the service after an agent was stopped.
     *
     * @param ending called once, with the first stopped agent, on the thread that ran it; called at once if an agent
     *     has already stopped. Must not block
     */
    public void whenBroken(Consumer<AgentStoppedException> ending) {
        final AgentStoppedException already;
        synchronized (this) {
            whenBroken = ending;
            already = broken;
        }
        if (already != null) {
            ending.accept(already);
        }
    }

    /** Reports an unexpected failure; its stack is logged. */
    public void report(String where, Throwable failure) {
        record(where, failure, Kind.UNEXPECTED);
    }

    /**
     * Reports a failure that is part of normal operation, such as a stopped peer or detected damage; the message
     * suffices.
     */
    public void reportExpected(String where, Throwable failure) {
        record(where, failure, Kind.EXPECTED);
    }

    private enum Kind {
        /** The message suffices. */
        EXPECTED,
        UNEXPECTED,
        /** An agent has ended, which it does once. */
        STOPPED
    }

    private synchronized void record(String where, Throwable failure, Kind kind) {
        count++;
        final long nowMs = clock.wallMs();
        final List<Object> key = key(where, failure);
        Observation seen = observations.get(key);
        if (seen == null && observations.size() < MAX_DISTINCT) {
            observations.put(key, first(where, failure, nowMs));
            logFirst(where, failure, kind);
            return;
        }
        if (seen == null) {
            seen = observations.get(List.<Object>of(OVERFLOW));
            key.clear();
            key.add(OVERFLOW);
        }
        final Observation next = seen == null ? first(OVERFLOW, failure, nowMs) : seen.again(nowMs);
        observations.put(key, next);
        if (kind == Kind.STOPPED) {
            logFirst(where, failure, kind);
        } else if (LogPace.isDue(next.count(), seen == null ? 0 : seen.lastMs(), nowMs)) {
            LOG.error("ROWAN-5004 {} failed, {} times so far: {}", where, next.count(), failure.toString());
        }
    }

    private static void logFirst(String where, Throwable failure, Kind kind) {
        if (kind == Kind.EXPECTED) {
            LOG.warn("ROWAN-5002 {} failed: {}", where, text(failure));
        } else {
            LOG.error("ROWAN-5003 {} failed", where, failure);
        }
    }

    /** Number of reports since the start. */
    public synchronized long count() {
        return count;
    }

    /** The distinct failures, oldest first. */
    public synchronized List<Observation> distinct() {
        return List.copyOf(observations.values());
    }

    private static String text(Throwable failure) {
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }

    private static Observation first(String where, Throwable failure, long nowMs) {
        return new Observation(
                where, failure.getClass().getName(), String.valueOf(failure.getMessage()), 1, nowMs, nowMs);
    }

    private static List<Object> key(String where, Throwable failure) {
        final List<Object> key = new ArrayList<>();
        key.add(where);
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < 4; depth++) {
            key.add(cause.getClass());
            for (final StackTraceElement frame : cause.getStackTrace()) {
                key.add(frame);
            }
            cause = cause.getCause();
        }
        return key;
    }
}
