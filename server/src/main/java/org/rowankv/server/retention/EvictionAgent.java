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
import org.rowankv.server.shard.LimitedCache;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends objects of caches that have grown above their limits (docs/design/09-eviction.md), on the shards whose primary this
 * server is: each end is a logged entry that is replicated like a client's removal. Whom to end, a {@link ClockHand} per cache
 * says, which goes over the index in hash order.
 *
 * <p>A duty cycle of the server's agents, but for {@link #close}, {@link #isAtWork}.
 */
public final class EvictionAgent implements Agent, ShardIndex.AddressConsumer {
    private static final Logger LOG = LoggerFactory.getLogger(EvictionAgent.class);

    private static final int LOCK_OWNER = (1 << 20) + 5;
    private static final int BUCKETS_PER_LOCK = 16;
    private static final int LOCKS_PER_TURN = 64;
    private static final int OBJECTS_PER_TURN = 64;
    /** Rounds of a hand without an object that could be ended, after which nobody is kept waiting for it. */
    private static final int FRUITLESS_ROUNDS = 2;

    private static final long STUCK_INTERVAL_NS = 10_000_000;
    /** Between two attempts when others have to get on first, who need the processor. */
    private static final long AHEAD_INTERVAL_NS = 200_000;

    /** Between two attempts when the log has no room: each sets the cleaner to work, which is to come to an end between them. */
    private static final long WITHOUT_ROOM_INTERVAL_NS = 1_000_000;

    private final List<ShardPrimary> primaries;
    private final LimitedCaches caches;
    private final RetentionWorker worker;
    private final Segments segments;
    private final Clock clock;
    private final BooleanSupplier isSwept;
    private final LongSupplier quiescenceTracker;
    private final Map<Integer, ClockHand> hands = new HashMap<>();

    /** Where the round over the limited caches goes on; behind the last one it begins anew. */
    private int nextCache;
    /** The cache whose objects are being ended. */
    private @Nullable LimitedCache cache;

    private ClockHand hand = new ClockHand(0);
    /** The log had no room for the end of an object, the latest time that it was wanted. */
    private boolean lacksRoom;
    /** Turns that left nothing to do which gives space, when it was found lacking. */
    private long settledBefore;

    private long nextAttemptNs;
    /** Such turns have been since, and it is lacking still. */
    private boolean hasNoHope;
    /** Others have to end first what they began. */
    private boolean isAhead;
    /** In this turn it has looked for room, and found none. */
    private boolean isRefused;

    // --- the bucket under the hand ---
    private @Nullable ShardPrimary visited;
    private long nowMs;

    private volatile boolean atWork;
    private volatile boolean closing;

    /**
     * @param isSwept whether no clear has objects left in the index, which count although nobody sees them
     * @param settledTurns turns of this server's agents that left nothing to do which gives space
     */
    public EvictionAgent(
            List<ShardPrimary> primaries,
            LimitedCaches caches,
            RetentionWorker worker,
            Segments segments,
            Clock clock,
            BooleanSupplier isSwept,
            LongSupplier quiescenceTracker) {
        this.primaries = List.copyOf(primaries);
        this.caches = caches;
        this.worker = worker;
        this.segments = segments;
        this.clock = clock;
        this.isSwept = isSwept;
        this.quiescenceTracker = quiescenceTracker;
    }

    @Override
    public String roleName() {
        return "eviction";
    }

    /** A turn that fails lets the callers through that wait for it: until something can be ended again nothing else would. */
    @Override
    public int doWork() {
        boolean hasFailed = true;
        try {
            final int done = turn();
            hasFailed = false;
            return done;
        } finally {
            if (hasFailed) {
                caches.all().forEach(each -> each.stuck(true));
            }
        }
    }

    private int turn() {
        if (worker.isTaken(this) || worker.isUsedBy(this) && !goOn()) {
            return 0;
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
            final LimitedCache now = cache;
            if (now == null || isOver(now)) {
                break;
            }
            if (walk(now)) {
                ended++;
                if (!goOn()) {
                    return ended;
                }
                if (lacksRoom || isAhead) {
                    break; // first let the other agents do their part
                }
            }
        }
        worker.releaseGrants();
        return 1;
    }

    /** Between two attempts that had to be given up, unless there is room by now. */
    private boolean mustPause() {
        return (lacksRoom || isAhead)
                && clock.nanoTime() - nextAttemptNs < 0
                && (isAhead || segments.freeCount() <= segments.cleanerReserve());
    }

    private boolean findCache() {
        if (closing || !caches.isAnyWanted()) {
            return false;
        }
        caches.looks(); // before: what grows above its limit from here on is found now, or in the next turn
        boolean isAnyLeft = false;
        final List<LimitedCache> all = caches.all();
        for (int looked = 0; looked < all.size() && cache == null; looked++) {
            nextCache = nextCache < all.size() ? nextCache : 0;
            final LimitedCache candidate = all.get(nextCache++);
            if (candidate.isWanted()) {
                isAnyLeft = true;
                begin(candidate);
            }
        }
        if (isAnyLeft) {
            caches.want();
        }
        return cache != null;
    }

    private void begin(LimitedCache candidate) {
        hand = hands.computeIfAbsent(candidate.id(), id -> new ClockHand(clock.nanoTime()));
        if (!isSwept.getAsBoolean() || clock.nanoTime() - hand.restsUntilNs < 0) {
            return;
        }
        atWork = true; // before the second look at `closing`: a close looks in the other order
        cache = candidate;
        hand.fruitlessRounds = 0;
        if (closing) {
            leave();
        }
    }

    /** Whether nothing more is to be ended in that cache for now. */
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
            leave(); // what the sweep removes may be enough
            return true;
        }
        if (hand.fruitlessRounds >= FRUITLESS_ROUNDS || hasNoHope) {
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

    /** Walks some buckets; true when it has chosen an object: then the worker has its eviction. */
    private boolean walk(LimitedCache now) {
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
                    hand.fruitlessRounds += hand.shard == 0 ? 1 : 0;
                    break;
                }
            }
        } finally {
            index.unlock();
        }
        // A small cache may not have enough to choose from.
        return (hand.isFull() || hand.fruitlessRounds > 0 && !hand.isEmpty()) && choose(now);
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
            final ShardPrimary primary = primaries.get(hand.shardOf(chosen));
            final ShardIndex index = primary.replica().index();
            final long address = hand.addressOf(chosen);
            final long position = hand.positionOf(chosen);
            index.lock(LOCK_OWNER);
            try {
                // The place may hold something else by now; then the object was replaced, moved or ended.
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

    /** Turns the worker; true when it has nothing under way any more. */
    private boolean goOn() {
        switch (worker.turn()) {
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
                hand.fruitlessRounds = 0; // it had found something
                nextAttemptNs = clock.nanoTime() + AHEAD_INTERVAL_NS;
            }
            case LOCKED, STRUCK -> {
                // The hand goes on to others.
            }
        }
        return true;
    }

    /**
     * For a moment a log is often without room: a segment is full, and the next is being cleaned. It stays so if the other agents
     * have done all they could since then.
     */
    private void withoutRoom() {
        isRefused = true;
        hand.fruitlessRounds = 0; // it had found something
        nextAttemptNs = clock.nanoTime() + WITHOUT_ROOM_INTERVAL_NS;
        if (!lacksRoom) {
            lacksRoom = true;
            settledBefore = quiescenceTracker.getAsLong();
        }
        hasNoHope = quiescenceTracker.getAsLong() >= settledBefore + 2;
    }

    private void hasRoom() {
        lacksRoom = false;
        hasNoHope = false;
    }

    /** It goes on here: puts wait again where they are far above the limit. */
    private void fruitful() {
        hand.fruitlessRounds = 0;
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
                    "the cache {} has reached its limit of {}: from now on objects of it are evicted, and counted"
                            + " (CacheEvictions)",
                    now.name(),
                    now.limit());
        }
    }

    /** Begins nothing more; over when it is not at work. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether a cache is being brought below its limit. Any thread. */
    public boolean isAtWork() {
        return atWork;
    }

    /**
     * Whether what it does may give space: if it is at work, and was not refused room itself in this turn. For the agents of its
     * server, behind it.
     */
    public boolean isGivingSpace() {
        return atWork && !isRefused;
    }
}
