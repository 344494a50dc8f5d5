package org.rowankv.server.authority;

import java.util.concurrent.TimeUnit;
import org.rowankv.runtime.Clock;

/**
 * One reading of both clocks of a server. Readings of different servers, or of different processes of one server, have
 * nothing in common. Immutable.
 *
 * @param monotonicNs of {@link Clock#nanoTime}; it may stand still while the machine sleeps
 * @param wallMs of {@link Clock#wallMs}; it may jump
 */
public record ClockReading(long monotonicNs, long wallMs) {

    public static ClockReading of(Clock clock) {
        return new ClockReading(clock.nanoTime(), clock.wallMs());
    }

    /** Nanoseconds by the monotonic clock, for what must last at least so long: waits and ages. */
    public long leastNsSince(ClockReading earlier) {
        return monotonicNs - earlier.monotonicNs;
    }

    /**
     * Nanoseconds by the clock that advanced further, for what may last at most so long: leases and confirmations. A
     * sleep that the monotonic clock misses ends them, and so does a wall clock that is set forward.
     */
    public long mostNsSince(ClockReading earlier) {
        return Math.max(monotonicNs - earlier.monotonicNs, TimeUnit.MILLISECONDS.toNanos(wallMs - earlier.wallMs));
    }

    /** The later of two readings of one process. */
    public ClockReading orLater(ClockReading other) {
        return other.leastNsSince(this) > 0 ? other : this;
    }
}
