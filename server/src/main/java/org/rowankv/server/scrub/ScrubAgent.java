package org.rowankv.server.scrub;

import java.nio.ByteBuffer;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.log.DamagedEntries;
import org.rowankv.server.log.SegmentScan;
import org.rowankv.server.log.Segments;

/**
 * Reads every committed segment again, in an endless cycle at a bounded rate, and compares it with what was written. A
 * segment with missing entries goes to the {@link ReplicaRepair}, as do those that the cleaner or a reader reports.
 *
 * <p>Between two cycles a segment may be freed and reused; its generation reveals that, and the segment is skipped.
 */
public final class ScrubAgent implements Agent, SegmentScan.Visitor {
    /** Bytes read at once. */
    private static final int STEP = 32 << 10;
    /** Per cycle. */
    private static final int MOST_STEPS = 32;
    /** Maximum backlog: time lost while the agents were idle or descheduled is not made up beyond this. */
    private static final long MOST_BEHIND_NS = 300_000_000;
    /** Between two examinations of a segment that is not committed, and lacks something. */
    private static final long EARLY_AGAIN_NS = 2_000_000_000;

    private final Segments segments;
    private final DamagedEntries damage;
    private final ReplicaRepair repair;
    private final Clock clock;
    private final long bytesPerSecond;
    private final SegmentScan scan;
    private int segment = -1;
    private int generation;
    private int next;
    private int found;
    private int invalid;
    private long dueNs;
    private long earlyDueNs;
    private final OwnedCounter scrubbedBytes = new OwnedCounter();
    private final OwnedCounter rounds = new OwnedCounter();

    /** @param bytesPerSecond at most; 0: examines only reported segments */
    public ScrubAgent(Segments segments, ReplicaRepair repair, Clock clock, long bytesPerSecond) {
        this.segments = segments;
        this.damage = segments.damage();
        this.repair = repair;
        this.clock = clock;
        this.bytesPerSecond = bytesPerSecond;
        this.scan = new SegmentScan(segments.region());
        this.dueNs = clock.nanoTime();
        this.earlyDueNs = dueNs;
    }

    @Override
    public String roleName() {
        return "scrub";
    }

    @Override
    public int doWork() {
        if (repair.step()) {
            return 1;
        }
        final long nowNs = clock.nanoTime();
        if (nowNs - earlyDueNs >= 0) {
            earlyDueNs = nowNs + EARLY_AGAIN_NS;
            damage.againEarly();
        }
        if (bytesPerSecond == 0) {
            return 0;
        }
        if (nowNs - dueNs < 0) {
            return 0;
        }
        dueNs = Math.max(dueNs, nowNs - MOST_BEHIND_NS);
        for (int steps = 0; steps < MOST_STEPS && nowNs - dueNs >= 0; steps++) {
            dueNs += readOn() * 1_000_000_000L / bytesPerSecond;
        }
        // Not counted as work: there is always more to read, which must not keep the thread awake.
        return 0;
    }

    private int readOn() {
        if (segment < 0) {
            begin();
            return STEP; // an empty area costs as much as a full one
        }
        if (!isStill(segment, generation)) {
            segment = -1;
            return STEP;
        }
        scan.advance(STEP, this);
        scrubbedBytes.add(STEP);
        if (scan.isDone()) {
            final int missing = segments.entryBytes(segment) - found;
            if (isStill(segment, generation) && !damage.isAsExpected(segment, generation, invalid, missing)) {
                damage.suspect(segment, generation);
            }
            segment = -1;
        }
        return STEP;
    }

    private void begin() {
        final int candidate = next;
        next = next + 1 == segments.count() ? 0 : next + 1;
        if (next == 0) {
            rounds.add(1);
        }
        generation = segments.generation(candidate);
        if (damage.isSuspect(candidate, generation)) {
            damage.again(candidate, generation);
            return;
        }
        if (!isStill(candidate, generation)) {
            return;
        }
        segment = candidate;
        found = 0;
        invalid = 0;
        scan.begin(segments.area().addressOf(segment), segments.length(), generation);
    }

    /** Whether the segment is committed, complete, and in that use. */
    private boolean isStill(int candidate, int use) {
        return use != 0
                && segments.state(candidate) == SegmentState.COMMITTED
                && segments.isClosed(candidate)
                && !segments.former().isKept(candidate)
                && segments.generation(candidate) == use;
    }

    @Override
    public void onEntry(ByteBuffer buffer, int at, long address, int type, int length) {
        found += segments.charge(length);
    }

    @Override
    public void onInvalid(long address, String reason) {
        invalid++;
    }

    /** Bytes of segments read again. */
    public long scrubbedBytes() {
        return scrubbedBytes.get();
    }

    /** Completed passes over the area. */
    public long rounds() {
        return rounds.get();
    }

    @Override
    public void onClose() {
        repair.close();
    }
}
