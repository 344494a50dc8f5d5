package org.rowankv.server.retention;

import java.util.ArrayDeque;
import java.util.List;
import org.rowankv.protocol.ResultBits;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardSessions;

/**
 * Ends client sessions whose lease has expired, by a logged record, like a client's own close. Each request of a
 * session renews its lease at that shard; a client that only pauses finds its session ended and opens another.
 *
 * <p>Time is this server's clock while it serves, in {@link #TICKS} ticks per lease. A server that was stalled counts
 * that as one tick, and a new primary of a shard grants every session a whole lease. A session with a request in flight
 * never ends, however long that takes.
 *
 * <p>Used on the agents' thread, except {@link #close}, {@link #isIdle} and the counters.
 */
public final class SessionLeaseAgent implements Agent {
    /** Ticks of a lease; it expires with the tick after these. */
    public static final int TICKS = 4;

    private static final int RECORDS_PER_TURN = 16;
    private static final int SESSIONS_PER_RECORD = 64;

    /** Sessions of one table that were unused at the last tick; the record checks again before it ends one. */
    private static final class Candidates {
        private final ShardPrimary primary;
        private final long[] ids;
        /** Those before it need no record any more. */
        private int next;

        Candidates(ShardPrimary primary, long[] ids) {
            this.primary = primary;
            this.ids = ids;
        }

        int recordLength() {
            return Math.min(SESSIONS_PER_RECORD, ids.length - next);
        }
    }

    private final CurrentRoles current;
    /** As of this duty cycle. */
    private Roles roles;

    private final RetentionWorker worker;
    private final Clock clock;
    private final long tickNs;
    private final ArrayDeque<Candidates> candidates = new ArrayDeque<>();
    private final long[] record = new long[SESSIONS_PER_RECORD];
    private final OwnedCounter endedSessions = new OwnedCounter();
    private final OwnedCounter ticks = new OwnedCounter();
    private long nextTickNs;
    /** The last record lacked room or met another mutation. */
    private boolean waitsForRoom;

    private volatile boolean atWork;
    private volatile boolean closing;

    /** @param leaseNs 0: leases never expire */
    public SessionLeaseAgent(CurrentRoles current, RetentionWorker worker, Clock clock, long leaseNs) {
        this.current = current;
        this.roles = current.get();
        this.worker = worker;
        this.clock = clock;
        this.tickNs = leaseNs / TICKS;
        this.nextTickNs = clock.nanoTime() + tickNs;
    }

    @Override
    public String roleName() {
        return "session-leases";
    }

    @Override
    public int doWork() {
        if (tickNs == 0 || worker.isTaken(this)) {
            return 0;
        }
        int records = 0;
        if (worker.isUsedBy(this)) {
            if (!goOn()) {
                return 0;
            }
            records++;
            worker.releaseGrants();
        }
        adoptRoles();
        tickIfDue();
        if (candidates.isEmpty()) {
            atWork = false;
            return records;
        }
        while (records < RECORDS_PER_TURN && !candidates.isEmpty() && !closing) {
            beginRecord();
            if (!goOn()) {
                return 1;
            }
            if (waitsForRoom) {
                break;
            }
            records++;
        }
        worker.releaseGrants();
        if (closing) {
            candidates.clear();
        }
        atWork = !candidates.isEmpty();
        return records;
    }

    /** Nothing is in flight. The sessions of a shard that is another server's now end there. */
    private void adoptRoles() {
        final Roles now = current.get();
        if (now != roles) {
            roles = now;
            candidates.removeIf(each -> !now.has(each.primary));
        }
    }

    private void beginRecord() {
        final Candidates first = candidates.element();
        final int count = first.recordLength();
        System.arraycopy(first.ids, first.next, record, 0, count);
        worker.beginSessionEnds(this, first.primary, record, count, TICKS);
    }

    /** Each tick searches again, so remaining candidates of the last one are found again. */
    private void tickIfDue() {
        final long nowNs = clock.nanoTime();
        if (nowNs - nextTickNs < 0) {
            return;
        }
        nextTickNs = nowNs + tickNs;
        atWork = true; // set before the read of `closing`: close() uses the opposite order
        candidates.clear();
        if (!closing) {
            final List<ShardPrimary> primaries = roles.primaries();
            for (int i = 0; i < primaries.size(); i++) {
                tick(primaries.get(i));
            }
        }
        atWork = !candidates.isEmpty();
        ticks.add(1);
    }

    private void tick(ShardPrimary primary) {
        for (int table = 0; table < ShardSessions.TABLES; table++) {
            final long[] unused = primary.replica().sessions().table(table).tick(TICKS);
            if (unused.length > 0) {
                candidates.add(new Candidates(primary, unused));
            }
        }
    }

    /**
     * Advances the worker; true when the record is no longer in flight. A record without room is retried in the next
     * cycle.
     */
    private boolean goOn() {
        final RetentionWorker.Outcome outcome = worker.step();
        waitsForRoom = false;
        switch (outcome) {
            case PENDING -> {
                return false;
            }
            case ANSWERED -> {
                if (worker.answerHas(ResultBits.REMOVED)) {
                    endedSessions.add(worker.answerVersion());
                }
                recordIsOver();
            }
            case INTERRUPTED -> recordIsOver();
            case LOCKED, AHEAD, WITHOUT_ROOM -> waitsForRoom = true;
        }
        return true;
    }

    private void recordIsOver() {
        final Candidates first = candidates.element();
        first.next += first.recordLength();
        if (first.next == first.ids.length) {
            candidates.remove();
        }
    }

    /** Stops new records; ends when it is idle. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether nothing is in flight. Any thread. */
    public boolean isIdle() {
        return !atWork;
    }

    /** Sessions ended since the start. Any thread. */
    public long endedSessions() {
        return endedSessions.get();
    }

    /** The number of ticks. Any thread. */
    public long ticks() {
        return ticks.get();
    }
}
