package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.ResultBits;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.OwnedCounter;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.index.ExpiryBound;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Ends expired objects that nobody asks for, so that their space comes back. It walks over the indexes of the shards whose
 * primary this server is, led by the bounds in their buckets (docs/design/08-expiry.md), and asks for what it finds with a
 * GET of its own: that logs the object's end as if a client had met it. So the clock is asked, under the key's lock, by the
 * one piece of code that always asks it.
 *
 * <p>An object is left alone for {@link #GRACE_MS}, in which an operation may still meet it and tell of it, unless somebody
 * waits for space. Its worker is the agents' own, since callers that wait for space may hold all others; where it would have to
 * wait for a key's lock it goes on and comes back in a later round.
 *
 * <p>A duty cycle of the server's agents, but for {@link #want}, {@link #isAwaited}, {@link #close} and {@link #isIdle}.
 */
public final class ExpirySweepAgent implements Agent, ShardIndex.AddressConsumer {
    /** How long an expired object is left to whoever may ask for it. */
    public static final long GRACE_MS = 10_000;

    private static final int LOCK_OWNER = (1 << 20) + 4;
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final long WANTED_INTERVAL_NS = 1_000_000;
    private static final long WITHOUT_ROOM_INTERVAL_NS = 100_000_000;
    /** Between two rounds it rests so many times as long as it walked. */
    private static final int REST = 16;

    private static final int WANTED_REST = 2;

    private static final int BUCKETS_PER_LOCK = 64;
    private static final int LOCKS_PER_TURN = 16;
    private static final int OBJECTS_PER_TURN = 64;

    private final List<ShardPrimary> primaries;
    private final RetentionWorker worker;
    private final Segments segments;
    private final Clock clock;
    private final OwnedCounter endedObjects = new OwnedCounter();

    // --- the round under way ---
    private boolean forSpace;
    private long dueMs;
    private long dueS;
    private int nextShard;
    private long walkedNs;
    private long begunNs;
    private @Nullable ShardPrimary walking;
    private long position;
    /** An object of this bucket cannot be ended now: its bound stays, and the next round comes by again. */
    private boolean leaveBucket;
    /** There is no room in the log even for the end of an object: nothing is ended in what is left of the round. */
    private boolean withoutRoom;

    // --- the bucket under the walk's eyes ---
    private long found;
    private long smallestBound;

    private long nextRoundNs;
    private long nextWantedNs;
    private volatile boolean wanted;
    /** When the last round that is over, of those for space, began. */
    private volatile long roundForSpaceNs;

    private volatile boolean inRound;
    private volatile boolean inRoundForSpace;
    private volatile boolean closing;

    public ExpirySweepAgent(List<ShardPrimary> primaries, RetentionWorker worker, Segments segments, Clock clock) {
        this.primaries = List.copyOf(primaries);
        this.worker = worker;
        this.segments = segments;
        this.clock = clock;
        this.nextRoundNs = clock.nanoTime();
        this.nextWantedNs = nextRoundNs;
        this.roundForSpaceNs = nextRoundNs;
    }

    @Override
    public String roleName() {
        return "expiry";
    }

    @Override
    public int doWork() {
        if (worker.isTaken(this) || worker.isUsedBy(this) && !goOn()) {
            return 0;
        }
        if (!inRound && !beginRound()) {
            return 0;
        }
        int ended = 0;
        for (int locks = 0; locks < LOCKS_PER_TURN && ended < OBJECTS_PER_TURN; locks++) {
            if (closing || walking == null && !findShard()) {
                endRound();
                break;
            }
            while (walk()) {
                if (!goOn()) {
                    return ended;
                }
                ended++;
                if (ended == OBJECTS_PER_TURN) {
                    break;
                }
            }
        }
        worker.releaseGrants();
        return 1;
    }

    private boolean beginRound() {
        final long nowNs = clock.nanoTime();
        forSpace = wanted && nowNs - nextWantedNs >= 0;
        if (closing || !forSpace && nowNs - nextRoundNs < 0) {
            return false;
        }
        begunNs = nowNs;
        if (forSpace) {
            inRoundForSpace = true;
            wanted = false; // before looking: who wants space from now on wants another round
        }
        inRound = true; // before the second look at `closing`: who closes looks in the other order
        dueMs = clock.wallMs() - (forSpace ? 0 : GRACE_MS);
        dueS = forSpace ? ExpiryBound.of(dueMs) : Math.floorDiv(dueMs, 1000);
        nextShard = 0;
        walkedNs = 0;
        withoutRoom = false;
        if (closing || !findShard()) {
            endRound();
        }
        return inRound;
    }

    private boolean findShard() {
        while (nextShard < primaries.size()) {
            final ShardPrimary candidate = primaries.get(nextShard++);
            final ShardIndex index = candidate.replica().index();
            if (index.expiry().earliest() <= dueS) {
                index.lock(LOCK_OWNER);
                try {
                    index.expiry().beginWalk();
                } finally {
                    index.unlock();
                }
                position = 0;
                leaveBucket = false;
                walking = candidate;
                return true;
            }
        }
        return false;
    }

    private void endRound() {
        final long nowNs = clock.nanoTime();
        walking = null;
        nextRoundNs = nowNs + Math.max(INTERVAL_NS, REST * walkedNs);
        if (forSpace) {
            final long idleNs = withoutRoom ? WITHOUT_ROOM_INTERVAL_NS : WANTED_INTERVAL_NS;
            nextWantedNs = nowNs + Math.max(idleNs, WANTED_REST * walkedNs);
            roundForSpaceNs = begunNs;
            inRoundForSpace = false;
            forSpace = false;
        }
        inRound = false;
    }

    /** Walks some buckets; true when it has come upon an expired object: then the worker has a GET for it. */
    private boolean walk() {
        final ShardPrimary primary = walking;
        if (primary == null) {
            return false;
        }
        final ShardIndex index = primary.replica().index();
        final long startNs = clock.nanoTime();
        found = 0;
        index.lock(LOCK_OWNER);
        try {
            for (int i = 0; i < BUCKETS_PER_LOCK && walking != null; i++) {
                if (!leaveBucket && !withoutRoom && index.expiry().bound(position) <= dueS) {
                    smallestBound = ExpiryBound.NEVER;
                    index.visit(position, this);
                    if (found != 0) {
                        worker.beginGet(this, primary, found);
                        return true;
                    }
                    index.expiry().bound(position, smallestBound);
                }
                leaveBucket = false;
                position = index.expiry().pass(position);
                if (position == 0) {
                    walking = null;
                }
            }
            return false;
        } finally {
            index.unlock();
            walkedNs += clock.nanoTime() - startNs;
        }
    }

    @Override
    public void accept(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        final long expiryMs = EntryDescriptor.expiryMs(entry, at, EntryDescriptor.flags(entry, at));
        final ShardPrimary primary = walking;
        if (primary == null
                || !primary.replica()
                        .isVisible(type, EntryDescriptor.cacheId(entry, at), EntryDescriptor.version(entry, at))) {
            return; // what a clear has ended is the clear's to remove
        }
        smallestBound = Math.min(smallestBound, ExpiryBound.of(expiryMs));
        if (expiryMs <= dueMs && found == 0) {
            found = address;
        }
    }

    /** Turns the worker; true when it has nothing under way any more. */
    private boolean goOn() {
        switch (worker.turn()) {
            case PENDING -> {
                return false;
            }
            case ANSWERED -> {
                if (worker.answerHas(ResultBits.EXPIRED)) {
                    endedObjects.add(1);
                } else {
                    leaveBucket = true; // replaced meanwhile, or the clock has gone back
                }
            }
            case WITHOUT_ROOM, AHEAD -> {
                withoutRoom = true;
                leaveBucket = true;
            }
            case LOCKED, STRUCK -> leaveBucket = true;
        }
        return true;
    }

    /** Somebody waits for space: what has expired by now goes soon, without its grace. True if there may be such. Any thread. */
    public boolean want() {
        if (closing || !inRound && !isAnythingOver()) {
            return false;
        }
        wanted = true;
        return true;
    }

    private boolean isAnythingOver() {
        final long nowS = ExpiryBound.of(clock.wallMs());
        for (int i = 0; i < primaries.size(); i++) {
            if (primaries.get(i).replica().index().expiry().earliest() <= nowS) {
                return true;
            }
        }
        return false;
    }

    /** Whether what had expired by then, when somebody wanted space, has not been gone through yet. Any thread. */
    public boolean isAwaited(long sinceNs) {
        // Read in this order: the one is set before the other falls.
        return !closing && (wanted || inRoundForSpace) && roundForSpaceNs - sinceNs < 0;
    }

    /** Begins nothing more; over when it is idle. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether nothing is under way. Any thread. */
    public boolean isIdle() {
        return !inRound;
    }

    /** Objects ended since the start. Any thread. */
    public long endedObjects() {
        return endedObjects.get();
    }
}
