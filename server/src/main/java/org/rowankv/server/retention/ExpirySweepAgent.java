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
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * Ends expired objects that no request accesses, so that their space is freed. It walks over the indexes of the shards
 * whose primary this server is, guided by the buckets' bounds (docs/design/space.md). For each object found it
 * issues a GET, which logs the object's end as if a client had met it. So one piece of code decides expiry, under the
 * key's lock.
 *
 * <p>An object is left alone for {@link #GRACE_MS}, in which an operation may still meet it and report its expiry,
 * unless space is requested. It uses the agents' own worker, since callers that wait for space may hold all others.
 * Instead of waiting for a key's lock it moves on and returns in a later pass.
 *
 * <p>Used on the agents' thread, except {@link #requestPass}, {@link #isAwaited}, {@link #close} and {@link #isIdle}.
 */
public final class ExpirySweepAgent implements Agent, ShardIndex.AddressConsumer {
    /** How long an expired object is left to requests that may access it. */
    public static final long GRACE_MS = 10_000;

    private static final int LOCK_OWNER = (1 << 20) + 4;
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final long REQUESTED_INTERVAL_NS = 1_000_000;
    private static final long WITHOUT_ROOM_INTERVAL_NS = 100_000_000;
    /** Idle time between two passes, as a multiple of the pass's duration. */
    private static final int REST = 16;

    private static final int REQUESTED_IDLE_FACTOR = 2;

    private static final int BUCKETS_PER_LOCK = 64;
    private static final int LOCKS_PER_TURN = 16;
    private static final int OBJECTS_PER_TURN = 64;

    private final CurrentRoles current;
    private final RetentionWorker worker;
    private final Segments segments;
    private final Clock clock;
    private final OwnedCounter endedObjects = new OwnedCounter();

    /** As of this duty cycle. */
    private Roles roles;

    // --- the current pass ---
    private List<ShardPrimary> primaries = List.of();
    private boolean forSpace;
    private long dueMs;
    private long dueS;
    private int nextShard;
    private long walkedNs;
    private long begunNs;
    private @Nullable ShardPrimary walking;
    private long position;
    /** An object of this bucket cannot be ended now: its bound stays for the next pass. */
    private boolean keepBound;
    /** The log has no room even for the end of an object: nothing more is ended in this pass. */
    private boolean withoutRoom;

    // --- the current bucket ---
    private long found;
    private long smallestBound;

    private long nextPassNs;
    private long nextRequestedNs;
    private volatile boolean passRequested;
    /** Start time of the last completed pass for space. */
    private volatile long passForSpaceNs;

    private volatile boolean inPass;
    private volatile boolean inPassForSpace;
    private volatile boolean closing;

    public ExpirySweepAgent(CurrentRoles current, RetentionWorker worker, Segments segments, Clock clock) {
        this.current = current;
        this.roles = current.get();
        this.worker = worker;
        this.segments = segments;
        this.clock = clock;
        this.nextPassNs = clock.nanoTime();
        this.nextRequestedNs = nextPassNs;
        this.passForSpaceNs = nextPassNs;
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
        roles = current.get();
        if (walking != null && !roles.has(walking)) {
            walking = null; // another server ends its objects now
        }
        if (!inPass && !beginPass()) {
            return 0;
        }
        int ended = 0;
        for (int locks = 0; locks < LOCKS_PER_TURN && ended < OBJECTS_PER_TURN; locks++) {
            if (closing || walking == null && !findShard()) {
                endPass();
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

    private boolean beginPass() {
        final long nowNs = clock.nanoTime();
        forSpace = passRequested && nowNs - nextRequestedNs >= 0;
        if (closing || !forSpace && nowNs - nextPassNs < 0) {
            return false;
        }
        begunNs = nowNs;
        if (forSpace) {
            inPassForSpace = true;
            passRequested = false; // cleared first: a later request gets another pass
        }
        inPass = true; // set before the second read of `closing`: close() uses the opposite order
        dueMs = clock.wallMs() - (forSpace ? 0 : GRACE_MS);
        dueS = forSpace ? ExpiryBound.of(dueMs) : Math.floorDiv(dueMs, 1000);
        primaries = roles.primaries();
        nextShard = 0;
        walkedNs = 0;
        withoutRoom = false;
        if (closing || !findShard()) {
            endPass();
        }
        return inPass;
    }

    private boolean findShard() {
        while (nextShard < primaries.size()) {
            final ShardPrimary candidate = primaries.get(nextShard++);
            final ShardIndex index = candidate.replica().index();
            if (roles.has(candidate) && index.expiry().earliest() <= dueS) {
                index.lock(LOCK_OWNER);
                try {
                    index.expiry().beginWalk();
                } finally {
                    index.unlock();
                }
                position = 0;
                keepBound = false;
                walking = candidate;
                return true;
            }
        }
        return false;
    }

    private void endPass() {
        final long nowNs = clock.nanoTime();
        walking = null;
        nextPassNs = nowNs + Math.max(INTERVAL_NS, REST * walkedNs);
        if (forSpace) {
            final long idleNs = withoutRoom ? WITHOUT_ROOM_INTERVAL_NS : REQUESTED_INTERVAL_NS;
            nextRequestedNs = nowNs + Math.max(idleNs, REQUESTED_IDLE_FACTOR * walkedNs);
            passForSpaceNs = begunNs;
            inPassForSpace = false;
            forSpace = false;
        }
        inPass = false;
    }

    /** Walks some buckets; true when it has found an expired object and begun a GET in the worker. */
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
                if (!keepBound && !withoutRoom && index.expiry().bound(position) <= dueS) {
                    smallestBound = ExpiryBound.NEVER;
                    index.visit(position, this);
                    if (found != 0) {
                        worker.beginGet(this, primary, found);
                        return true;
                    }
                    index.expiry().bound(position, smallestBound);
                }
                keepBound = false;
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
            return; // the clear sweep removes it
        }
        smallestBound = Math.min(smallestBound, ExpiryBound.of(expiryMs));
        if (expiryMs <= dueMs && found == 0 && worker.canReadKey(address)) {
            found = address;
        }
    }

    /** Advances the worker; true when it has nothing in flight any more. */
    private boolean goOn() {
        switch (worker.step()) {
            case PENDING -> {
                return false;
            }
            case ANSWERED -> {
                if (worker.answerHas(ResultBits.EXPIRED)) {
                    endedObjects.add(1);
                } else {
                    keepBound = true; // replaced meanwhile, or the clock was set back
                }
            }
            case WITHOUT_ROOM, AHEAD -> {
                withoutRoom = true;
                keepBound = true;
            }
            case LOCKED, INTERRUPTED -> keepBound = true;
        }
        return true;
    }

    /** Requests space: ends expired objects without their grace. True if there may be any. Any thread. */
    public boolean requestPass() {
        if (closing || !inPass && !isAnythingOver()) {
            return false;
        }
        passRequested = true;
        return true;
    }

    private boolean isAnythingOver() {
        final long nowS = ExpiryBound.of(clock.wallMs());
        final List<ShardPrimary> present = current.get().primaries();
        for (int i = 0; i < present.size(); i++) {
            if (present.get(i).replica().index().expiry().earliest() <= nowS) {
                return true;
            }
        }
        return false;
    }

    /** Whether objects expired at that time, when space was requested, are not all processed yet. Any thread. */
    public boolean isAwaited(long sinceNs) {
        // Read in this order: the first is set before the second is cleared.
        return !closing && (passRequested || inPassForSpace) && passForSpaceNs - sinceNs < 0;
    }

    /** Stops new GETs; ends when it is idle. Any thread. */
    public void close() {
        closing = true;
    }

    /** Whether nothing is in flight. Any thread. */
    public boolean isIdle() {
        return !inPass;
    }

    /** Objects ended since the start. Any thread. */
    public long endedObjects() {
        return endedObjects.get();
    }
}
