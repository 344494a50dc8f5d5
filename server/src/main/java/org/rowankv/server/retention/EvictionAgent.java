package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.LimitedCache;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts objects of caches above their limits (docs/design/space.md), in the shards whose primary this server is.
 * Each eviction is a logged entry, replicated like a client's removal. A {@link ClockHand} per cache selects the
 * objects, over the index in hash order.
 *
 * <p>Used on the agents' thread, except {@link #close} and {@link #isAtWork}.
 */
public final class EvictionAgent implements Agent, ShardIndex.AddressConsumer {
    private static final Logger LOG = LoggerFactory.getLogger(EvictionAgent.class);

    private static final int LOCK_OWNER = (1 << 20) + 5;
    private static final int BUCKETS_PER_LOCK = 16;
    private static final int LOCKS_PER_TURN = 64;
    private static final int OBJECTS_PER_TURN = 64;
    /** Passes of a hand without an evictable object, after which puts no longer wait. */
    private static final int FRUITLESS_PASSES = 2;

    private static final long STUCK_INTERVAL_NS = 10_000_000;
    /** Between two attempts while other workers must advance first, which need the processor. */
    private static final long AHEAD_INTERVAL_NS = 200_000;

    /** Between two attempts when the log has no room: each wakes the cleaner, which must finish in between. */
    private static final long WITHOUT_ROOM_INTERVAL_NS = 1_000_000;

    private final CurrentRoles current;
    /** As of this duty cycle; the hands count its primaries. */
    private Roles roles;

    private final LimitedCaches caches;
    private final RetentionWorker worker;
    private final Segments segments;
    private final Clock clock;
    private final BooleanSupplier isSwept;
    private final LongSupplier quietCycles;
    private final Map<Integer, ClockHand> hands = new HashMap<>();

    /** Where the pass over the limited caches continues; wraps after the last one. */
    private int nextCache;
    /** The cache being evicted from. */
    private @Nullable LimitedCache cache;

    private ClockHand hand = new ClockHand(0);
    /** The log had no room for the last eviction that was attempted. */
    private boolean lacksRoom;
    /** Quiet cycles at the time when room was found lacking. */
    private long quietCyclesBefore;

    private long nextAttemptNs;
    /** Two quiet cycles have passed since, and room is still lacking. */
    private boolean lacksRoomForGood;
    /** Other workers must first complete what they began: the in-flight window is full. */
    private boolean isAhead;
    /** This cycle has requested room and got none. */
    private boolean isRefused;

    // --- the bucket under the hand ---
    private @Nullable ShardPrimary visited;
    private long nowMs;

    private volatile boolean atWork;
    private volatile boolean closing;

    /**
     * @param isSwept whether no clear has objects left in the index, which count although they are invisible
     * @param quietCycles quiet cycles of this server's agents: those that found nothing left that frees space
     */
    public EvictionAgent(
            CurrentRoles current,
            LimitedCaches caches,
            RetentionWorker worker,
            Segments segments,
            Clock clock,
            BooleanSupplier isSwept,
            LongSupplier quietCycles) {
        this.current = current;
        this.roles = current.get();
        this.caches = caches;
        this.worker = worker;
        this.segments = segments;
        this.clock = clock;
        this.isSwept = isSwept;
        this.quietCycles = quietCycles;
    }

    @Override
    public String roleName() {
        return "eviction";
    }

    /** A failing cycle releases the puts that wait for it: nothing else would, until an eviction succeeds. */
    @Override
    public int doWork() {
        boolean hasFailed = true;
        try {
            final int done = step();
            hasFailed = false;
            return done;
        } finally {
            if (hasFailed) {
                caches.all().forEach(each -> each.stuck(true));
            }
        }
    }

    private int step() {
        if (worker.isTaken(this) || worker.isUsedBy(this) && !goOn()) {
            return 0;
        }
        final Roles now = current.get();
        if (now != roles) {
            roles = now;
            hands.values().forEach(ClockHand::restart);
            hand.restart();
        }
        if (cache == null && !findCache()) {
            return 0;
        }
        isRefused = false;
        if (mustPause()) {
            return 0;
        }
        isAhead = false;
        int ended = 0;
        for (int locks = 0; locks < LOCKS_PER_TURN && ended < OBJECTS_PER_TURN; locks++) {
            final LimitedCache chosen = cache;
            if (chosen == null || isOver(chosen)) {
                break;
            }
            if (walk(chosen)) {
                ended++;
                if (!goOn()) {
                    return ended;
                }
                if (lacksRoom || isAhead) {
                    break; // the other agents run first
                }
            }
        }
        worker.releaseGrants();
        return 1;
    }

    /** Pauses between two refused attempts, unless there is room by now. */
    private boolean mustPause() {
        return (lacksRoom || isAhead)
                && clock.nanoTime() - nextAttemptNs < 0
                && (isAhead || segments.freeCount() <= segments.cleanerReserve());
    }

    private boolean findCache() {
        if (closing || !caches.isAnyCheckRequested()) {
            return false;
        }
        caches.looks(); // cleared first: growth from here on is found in this cycle or the next
        boolean isAnyLeft = false;
        final List<LimitedCache> all = caches.all();
        for (int looked = 0; looked < all.size() && cache == null; looked++) {
            nextCache = nextCache < all.size() ? nextCache : 0;
            final LimitedCache candidate = all.get(nextCache++);
            if (candidate.isCheckRequested()) {
                isAnyLeft = true;
                begin(candidate);
            }
        }
        if (isAnyLeft) {
            caches.requestCheck();
        }
        return cache != null;
    }

    private void begin(LimitedCache candidate) {
        hand = hands.computeIfAbsent(candidate.id(), id -> new ClockHand(clock.nanoTime()));
        if (!isSwept.getAsBoolean() || clock.nanoTime() - hand.restsUntilNs < 0) {
            return;
        }
        atWork = true; // set before the second read of `closing`: close() uses the opposite order
        cache = candidate;
        hand.fruitlessPasses = 0;
        if (closing) {
            leave();
        }
    }

    /** Whether nothing more must be evicted from that cache for now. */
    private boolean isOver(LimitedCache now) {
        final boolean isCurrent = caches.find(now.id()) == now;
        if (closing || !isCurrent) {
            leave();
            return true;
        }
        if (now.isEnough()) {
            now.stuck(false);
            if (!now.rest()) {
                leave();
                return true;
            }
        }
        if (!isSwept.getAsBoolean()) {
            leave(); // the sweep may remove enough
            return true;
        }
        if (hand.fruitlessPasses >= FRUITLESS_PASSES || lacksRoomForGood) {
            now.stuck(true);
            hand.restsUntilNs = clock.nanoTime() + STUCK_INTERVAL_NS;
            leave();
            return true;
        }
        return false;
    }

    private void leave() {
        cache = null;
        hasRoom();
        atWork = false;
        if (hands.size() > 2 * caches.all().size() + 16) {
            hands.keySet().removeIf(id -> caches.find(id) == null);
        }
    }

    /** Walks some buckets; true when it has begun an eviction in the worker. */
    private boolean walk(LimitedCache now) {
        final List<ShardPrimary> primaries = roles.primaries();
        if (primaries.isEmpty()) {
            hand.fruitlessPasses = FRUITLESS_PASSES;
            return false;
        }
        nowMs = clock.wallMs();
        final ShardPrimary primary = primaries.get(hand.shard);
        final ShardIndex index = primary.replica().index();
        index.lock(LOCK_OWNER);
        try {
            visited = primary;
            for (int i = 0; i < BUCKETS_PER_LOCK && !hand.isFull(); i++) {
                hand.position = index.visit(hand.position, this);
                if (hand.position == 0) {
                    hand.shard = (hand.shard + 1) % primaries.size();
                    hand.fruitlessPasses += hand.shard == 0 ? 1 : 0;
                    break;
                }
            }
        } finally {
            index.unlock();
        }
        // A small cache may not have enough candidates.
        return (hand.isFull() || hand.fruitlessPasses > 0 && !hand.isEmpty()) && choose(now);
    }

    @Override
    public void accept(long address) {
        final LimitedCache now = cache;
        final ShardPrimary primary = visited;
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        if (now == null || primary == null || EntryDescriptor.cacheId(entry, at) != now.id()) {
            return;
        }
        final ShardReplica replica = primary.replica();
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        if (!replica.isVisible(type, now.id(), EntryDescriptor.version(entry, at))) {
            return;
        }
        if (!worker.canReadKey(address)) {
            return;
        }
        final int flags = EntryDescriptor.flags(entry, at);
        final long position = worker.positionOf(replica, entry, at);
        final boolean marked = replica.index().marks().isMarked(position, address);
        if (hand.meet(
                hand.shard,
                position,
                address,
                EntryDescriptor.objectVersion(entry, at, flags),
                marked,
                EntryDescriptor.expiryMs(entry, at, flags) <= nowMs)) {
            replica.index().marks().unmark(position, address);
        }
    }

    private boolean choose(LimitedCache now) {
        while (!hand.isEmpty()) {
            final int chosen = hand.choose();
            final ShardPrimary primary = roles.primaries().get(hand.shardOf(chosen));
            final ShardIndex index = primary.replica().index();
            final long address = hand.addressOf(chosen);
            final long position = hand.positionOf(chosen);
            index.lock(LOCK_OWNER);
            try {
                // The address may hold another entry by now; then the object was replaced, moved or ended.
                if (index.refers(position, address) && isOf(now, address)) {
                    hand.drop();
                    worker.beginEviction(this, primary, address);
                    return true;
                }
            } finally {
                index.unlock();
            }
            hand.forget(chosen);
        }
        return false;
    }

    private boolean isOf(LimitedCache now, long address) {
        return EntryDescriptor.cacheId(
                        segments.region().buffer(address), segments.region().offset(address))
                == now.id();
    }

    /** Advances the worker; true when it has nothing in flight any more. */
    private boolean goOn() {
        switch (worker.step()) {
            case PENDING -> {
                return false;
            }
            case ANSWERED -> {
                hasRoom();
                if (worker.answerHas(ResultBits.EVICTED)) {
                    fruitful();
                    reportFirst();
                } else if (worker.answerHas(ResultBits.EXPIRED)) {
                    fruitful();
                }
            }
            case WITHOUT_ROOM -> withoutRoom();
            case AHEAD -> {
                isAhead = true;
                hand.fruitlessPasses = 0; // progress
                nextAttemptNs = clock.nanoTime() + AHEAD_INTERVAL_NS;
            }
            case LOCKED, INTERRUPTED -> {
                // The hand moves on.
            }
        }
        return true;
    }

    /**
     * A log often lacks room briefly: a segment is full, and the next is being cleaned. Room is lacking for good if the
     * other agents have since made two quiet cycles.
     */
    private void withoutRoom() {
        isRefused = true;
        hand.fruitlessPasses = 0; // progress
        nextAttemptNs = clock.nanoTime() + WITHOUT_ROOM_INTERVAL_NS;
        if (!lacksRoom) {
            lacksRoom = true;
            quietCyclesBefore = quietCycles.getAsLong();
        }
        lacksRoomForGood = quietCycles.getAsLong() >= quietCyclesBefore + 2;
    }

    private void hasRoom() {
        lacksRoom = false;
        lacksRoomForGood = false;
    }

    /** Progress: puts wait again where the cache is far above its limit. */
    private void fruitful() {
        hand.fruitlessPasses = 0;
        final LimitedCache now = cache;
        if (now != null) {
            now.stuck(false);
        }
    }

    private void reportFirst() {
        final LimitedCache now = cache;
        if (now != null && !hand.hasEvicted) {
            hand.hasEvicted = true;
            LOG.info(
                    "the cache {} has reached its limit of {}: its objects are evicted from now on, and counted"
                            + " (CacheEvictions)",
                    now.name(),
                    now.limit());
        }
    }

    /** Stops new evictions; ends when it is not at work. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether a cache is being brought below its limit. Any thread. */
    public boolean isAtWork() {
        return atWork;
    }

    /**
     * Whether it may free space: it is at work, and did not lack room itself in this cycle. For agents that run after
     * it.
     */
    public boolean isGivingSpace() {
        return atWork && !isRefused;
    }
}
