package org.rowankv.server.retention;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardParts;
import org.rowankv.server.shard.ShardPrimary;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the parts of values that have ended, on the primary, by logged deletions; and finds parts without a value: a client
 * ended before it put the list, or a restart forgot what had ended (docs/design/big-values.md).
 *
 * <p>Used on the agents' thread, except {@link #requestPass}, {@link #isAwaited}, {@link #close}, and the readings.
 */
public final class PartsAgent implements Agent {
    /** How long the parts of an ended value are left to its readers, unless space is needed. */
    public static final long GRACE_NS = TimeUnit.SECONDS.toNanos(5);

    private static final long ORPHAN_AFTER_NS = TimeUnit.MINUTES.toNanos(10);
    private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long WALK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(30);
    /** Idle time between two rounds of walks, as a multiple of their duration. */
    private static final int REST = 16;

    private static final int PARTS_PER_TURN = 32;
    private static final Logger LOG = LoggerFactory.getLogger(PartsAgent.class);

    /** The removal of one value's parts. */
    private static final class PartRemoval {
        final ShardPrimary primary;
        final ShardParts.Ended ended;
        /** Parts whose removal began. */
        int begun;

        int removed;

        PartRemoval(ShardPrimary primary, ShardParts.Ended ended) {
            this.primary = primary;
            this.ended = ended;
        }
    }

    private record LockedPart(PartRemoval removal, int number) {}

    private final CurrentRoles current;
    private final RetentionWorker worker;
    private final Segments segments;
    private final Clock clock;
    private final long orphanAfterNs;
    private final BooleanSupplier isEvictionDue;
    private final OwnedCounter rounds = new OwnedCounter();

    /** As of this duty cycle. */
    private Roles roles;

    // --- removing ---
    private @Nullable PartRemoval removing;
    /** Of the part in the worker. */
    private int number;
    /** The removal of that part begins again. */
    private boolean isAgain;
    /** Parts whose lock a mutation held: it may wait for the space of the others, so they go first. */
    private final ArrayDeque<LockedPart> locked = new ArrayDeque<>();
    /** Removals in sequence that met a lock. */
    private int metLocks;
    /** The last removal lacked room, or all that remains is locked. */
    private boolean waits;

    private boolean isStalled;
    private long stalledSinceNs;
    /** Nothing could be removed for so long that the others need not wait for it. */
    private volatile boolean stuck;

    private long nextLookNs;

    // --- walking ---
    private @Nullable ShardPrimary walking;
    private @Nullable PartsWalk walk;
    /** Of the second walk. */
    private final List<Long> condemned = new ArrayList<>();

    private int nextShard;
    private long nextRoundNs;
    private long walkedNs;
    /** By shard and id: when parts without a list were found first. */
    private final Map<Integer, Map<Long, Long>> firstFoundNs = new HashMap<>();

    private final AtomicLong requests = new AtomicLong();
    /** The requests after which no part waited any more. */
    private volatile long served;

    private volatile boolean atWork;
    private volatile boolean closing;

    /**
     * @param sessionLeaseNs after which the client of parts without a list counts as ended; 0: the usual time
     * @param isEvictionDue whether a cache is above its limit
     */
    public PartsAgent(
            CurrentRoles current,
            RetentionWorker worker,
            Segments segments,
            Clock clock,
            long sessionLeaseNs,
            BooleanSupplier isEvictionDue) {
        this.current = current;
        this.roles = current.get();
        this.worker = worker;
        this.segments = segments;
        this.clock = clock;
        this.orphanAfterNs = sessionLeaseNs == 0 ? ORPHAN_AFTER_NS : sessionLeaseNs;
        this.isEvictionDue = isEvictionDue;
        this.nextLookNs = clock.nanoTime();
        this.nextRoundNs = nextLookNs;
    }

    @Override
    public String roleName() {
        return "parts";
    }

    @Override
    public int doWork() {
        if (worker.isTaken(this)) {
            return 0;
        }
        int steps = 0;
        if (worker.isUsedBy(this)) {
            if (!goOn()) {
                return 0;
            }
            steps++;
        }
        adoptRoles();
        waits = false;
        while (steps < PARTS_PER_TURN && !waits && findPart()) {
            if (!goOn()) {
                return steps;
            }
            steps++;
        }
        if (steps > 0) {
            worker.releaseGrants();
        } else if (!closing && (walk != null || isRoundDue())) {
            steps = walk();
        }
        atWork = !closing && (removing != null || !locked.isEmpty());
        return steps;
    }

    /** Nothing is in flight. */
    private void adoptRoles() {
        final Roles now = current.get();
        if (now == roles) {
            return;
        }
        roles = now;
        if (removing != null && !now.has(removing.primary)) {
            removing = null;
        }
        locked.removeIf(part -> !now.has(part.removal.primary));
        if (walking != null && !now.has(walking)) {
            endWalk();
        }
        nextRoundNs = clock.nanoTime();
    }

    // --- removing ---

    /** Begins the removal of a part in the worker; false if none is due. */
    private boolean findPart() {
        if (closing) {
            return false;
        }
        PartRemoval next = removing;
        if (isAgain && next != null) {
            begin(next);
            return true;
        }
        if (next == null || next.begun >= next.ended.count()) {
            next = findEnded();
        }
        final LockedPart first = next == null ? locked.poll() : null;
        if (next != null) {
            number = next.begun++;
        } else if (first != null) {
            next = first.removal;
            number = first.number;
        } else {
            removing = null;
            return false;
        }
        removing = next;
        begin(next);
        return true;
    }

    private void begin(PartRemoval removal) {
        final ShardParts.Ended ended = removal.ended;
        final ShardPrimary primary = removal.primary;
        final byte[] key = primary.replica()
                .partKeys()
                .key(ended.partsId(), primary.replica().shardId(), ended.id(), number);
        isAgain = false;
        atWork = true;
        worker.beginRemoval(this, primary, ended.partsId(), key);
    }

    private @Nullable PartRemoval findEnded() {
        final long nowNs = clock.nanoTime();
        final long asked = requests.get(); // before the look: a later request is served by a later look
        final boolean isUrgent = asked != served || isEvictionDue.getAsBoolean();
        if (!isUrgent && nowNs - nextLookNs < 0) {
            return null;
        }
        nextLookNs = nowNs + LOOK_INTERVAL_NS;
        boolean isAnyWaiting = false;
        for (ShardPrimary primary : roles.primaries()) {
            if (primary.parts().isWaiting()) {
                isAnyWaiting = true;
                final ShardParts.Ended first = primary.parts().take(isUrgent ? nowNs : nowNs - GRACE_NS);
                if (first != null) {
                    return new PartRemoval(primary, first);
                }
            }
        }
        if (!isAnyWaiting) {
            served = asked;
        }
        return null;
    }

    /** Advances the worker; true when it has nothing in flight any more. */
    private boolean goOn() {
        switch (worker.step()) {
            case PENDING -> {
                return false;
            }
            case ANSWERED -> partIsGone();
            case LOCKED -> partIsLocked();
            case AHEAD, WITHOUT_ROOM, INTERRUPTED -> {
                isAgain = true;
                stall();
            }
        }
        return true;
    }

    private void partIsLocked() {
        if (removing != null) {
            locked.add(new LockedPart(removing, number));
        }
        if (++metLocks > locked.size()) {
            stall();
        }
    }

    private void stall() {
        waits = true;
        metLocks = 0;
        final long nowNs = clock.nanoTime();
        if (!isStalled) {
            isStalled = true;
            stalledSinceNs = nowNs;
        }
        stuck = nowNs - stalledSinceNs >= STUCK_NS;
    }

    private void partIsGone() {
        isStalled = false;
        stuck = false;
        metLocks = 0;
        final PartRemoval removal = removing;
        if (removal != null && ++removal.removed >= removal.ended.count()) {
            removal.primary.parts().removed(removal.ended);
        }
    }

    // --- orphans ---

    private boolean isRoundDue() {
        return clock.nanoTime() - nextRoundNs >= 0;
    }

    /** Walks on a little. */
    private int walk() {
        final long startNs = clock.nanoTime();
        PartsWalk now = walk;
        if (now == null) {
            if (!findShard()) {
                nextShard = 0;
                nextRoundNs = startNs + Math.max(WALK_INTERVAL_NS, REST * walkedNs);
                walkedNs = 0;
                rounds.add(1);
                return 0;
            }
            now = walk;
        }
        final ShardPrimary primary = walking;
        if (now != null && primary != null && now.advance()) {
            if (condemned.isEmpty()) {
                condemn(primary, now);
            } else {
                judge(primary, now);
            }
        }
        walkedNs += clock.nanoTime() - startNs;
        return 1;
    }

    private boolean findShard() {
        final List<ShardPrimary> primaries = roles.primaries();
        while (nextShard < primaries.size()) {
            final ShardPrimary candidate = primaries.get(nextShard++);
            if (candidate.replica().counts().parts() > 0) {
                walking = candidate;
                walk = new PartsWalk(segments, candidate, false);
                return true;
            }
            firstFoundNs.remove(candidate.replica().shardId());
        }
        return false;
    }

    /** Ends the first walk: what it found without a list, and is old enough, gets none from now on. */
    private void condemn(ShardPrimary primary, PartsWalk first) {
        final long nowNs = clock.nanoTime();
        final int epoch = Version.epoch(primary.versions().last());
        final Map<Long, Long> before =
                firstFoundNs.getOrDefault(primary.replica().shardId(), Map.of());
        final Map<Long, Long> since = new HashMap<>();
        first.orphans().forEach((id, found) -> {
            final long foundNs = before.getOrDefault(id, nowNs);
            since.put(id, foundNs);
            // A client that lives through an epoch sends its value again.
            final boolean isOld = Version.epoch(found.newestVersion()) < epoch || nowNs - foundNs >= orphanAfterNs;
            if (isOld && primary.parts().condemn(id)) {
                condemned.add(id);
            }
        });
        firstFoundNs.put(primary.replica().shardId(), since);
        if (condemned.isEmpty()) {
            endWalk();
        } else {
            walk = new PartsWalk(segments, primary, true);
        }
    }

    /** Ends the second walk: a list put before its parts were condemned was met by it. */
    private void judge(ShardPrimary primary, PartsWalk second) {
        final Map<Long, PartsWalk.Found> orphans = second.orphans();
        int values = 0;
        for (long id : condemned) {
            final PartsWalk.Found found = orphans.get(id);
            if (found == null || second.isDamaged()) {
                primary.parts().acquit(id);
            } else {
                primary.parts()
                        .orphaned(
                                new ShardParts.Ended(found.partsId(), id, found.count(), clock.nanoTime() - GRACE_NS));
                values++;
            }
        }
        condemned.clear();
        if (values > 0) {
            LOG.info(
                    "Parts without a value are removed shard={} values={}",
                    primary.replica().shardId(),
                    values);
        }
        endWalk();
    }

    private void endWalk() {
        final ShardPrimary primary = walking;
        if (primary != null) {
            condemned.forEach(primary.parts()::acquit);
        }
        condemned.clear();
        walking = null;
        walk = null;
    }

    // --- other threads ---

    /** Requests space: parts of ended values are removed without their grace. True if there are any. Any thread. */
    public boolean requestPass() {
        if (closing || !isAnyWaiting()) {
            return false;
        }
        requests.incrementAndGet();
        return true;
    }

    private boolean isAnyWaiting() {
        for (ShardPrimary primary : current.get().primaries()) {
            if (primary.parts().isWaiting()) {
                return true;
            }
        }
        return false;
    }

    /** Whether parts are still being removed for that request. Any thread. */
    public boolean isAwaited() {
        return !closing && requests.get() != served && !stuck;
    }

    /** Whether no part waits for its removal, or none can be removed now. For agents that run after it. */
    public boolean isDone() {
        return stuck || !isAnyWaiting();
    }

    /** Stops new removals; ends when it is idle. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether nothing is in flight. Any thread. */
    public boolean isIdle() {
        return !atWork;
    }

    /** Rounds over all shards in search of parts without a list. Any thread. */
    public long rounds() {
        return rounds.get();
    }
}
