package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.replication.Replication;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.server.shard.LimitedCache;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * One mutation's state machine on the primary (§4.1 of the paper): lock, duplicate check, condition, space, version,
 * t-log, backups, index, response. A state names what it waits for; {@link #advance} makes all progress possible now.
 * Any owner of the worker may call it, so the next owner finishes a mutation whose caller died.
 *
 * <p>Before the version is taken every step can be refused and leaves no trace. Afterwards nothing allocates, calls
 * user code or is refused. Invisible until every backup has acknowledged.
 *
 * <p>When a shard that leaves for another server is closed, a mutation without a version waits, and one with a version is
 * finished. When the shard has left, the former is refused. If the roles end otherwise, one with a version waits until the server
 * ends, and has no answer: its acknowledgements may not count, and whether it takes effect is decided at the new primary.
 */
final class Mutation {
    private enum State {
        IDLE,
        /** Needs the key's stripe, or for a clear all stripes. */
        AWAITING_LOCK,
        /** Holds the lock; duplicate check and condition are next. */
        DECIDING,
        /** Planned; needs space here and credit from every backup. */
        AWAITING_SPACE,
        /** A version may be taken and an entry may be in the t-log at {@code address}, or not yet. */
        WRITING,
        /**
         * The entry is in the t-log; acknowledgements are outstanding: of the backups, and of this device if the level
         * has one.
         */
        AWAITING_BACKUPS,
        /** On all replicas; must become visible. */
        APPLYING
    }

    private final Worker worker;
    /** Its index in the in-flight window, over all workers. */
    private final int slot;

    private final EntryDraft draft = new EntryDraft();
    private final Replication replication;
    private final CurrentObject current;
    private final MutationPlanner decision;
    private final Admission admission;
    private final ChangeCapture changeCapture;

    private State state = State.IDLE;
    private @Nullable Request request;
    private @Nullable ShardPrimary primary;
    /** The cache, if it has a limit. */
    private @Nullable LimitedCache limited;

    private long position;
    /** Whether the last request for space waited for the in-flight window. */
    private boolean awaitsWindow;

    private int firstStripe;
    private int stripesHeld;
    private int stripesNeeded;
    private long address;
    /** Of the entry in the t-log: its local copy counts once this ticket is forced. */
    private long ticket;

    /** The replicator is running. If the next owner finds it set, it was interrupted and may have lost count. */
    private boolean replicating;

    Mutation(Worker worker, int slot) {
        this.worker = worker;
        this.slot = slot;
        this.replication = worker.replicator().newReplication();
        this.current = new CurrentObject(worker.segments());
        this.decision = new MutationPlanner(worker, draft, current);
        this.admission = new Admission(worker, draft, decision, replication);
        this.changeCapture = new ChangeCapture(worker.segments());
    }

    /** The identity under which it holds locks: ≥ 1. */
    private int lockOwner() {
        return slot + 1;
    }

    boolean isIdle() {
        return state == State.IDLE;
    }

    void begin(ShardPrimary shardPrimary, Request newRequest) {
        if (state != State.IDLE) {
            throw new AssertionError("a mutation is " + state);
        }
        primary = shardPrimary;
        request = newRequest;
        limited = worker.limits().find(Parts.cacheOf(newRequest.cacheId()));
        stripesHeld = 0;
        final Operation operation = newRequest.operation();
        if (operation == Operation.CLEAR) {
            position = 0;
            firstStripe = 0;
            stripesNeeded = KeyLocks.STRIPES;
        } else {
            position = operation == Operation.OPEN_SESSION || operation == Operation.CLOSE_SESSION
                    ? newRequest.sessionId()
                    : shardPrimary.replica().positionOf(newRequest.hash());
            firstStripe = KeyLocks.stripeOf(position);
            stripesNeeded = 1;
        }
        decision.begin(shardPrimary, newRequest, position);
        admission.begin(shardPrimary);
        state = State.AWAITING_LOCK;
    }

    /** Begins the eviction of an object; the request is a DELETE conditional on its version. */
    void beginEviction(ShardPrimary shardPrimary, Request eviction) {
        begin(shardPrimary, eviction);
        decision.evicts();
    }

    /** Begins to end those sessions that are unused for so many ticks of their leases. */
    void beginSessionEnds(ShardPrimary shardPrimary, Request close, long[] ids, int count, int ticks) {
        begin(shardPrimary, close);
        decision.session().endsSessions(ids, count, ticks);
    }

    /** True when it is complete. */
    boolean advance() {
        while (true) {
            if (isUnwritten() && !isInForce()) {
                decision.refuseNotPrimary();
                end();
            }
            switch (state) {
                case IDLE -> {
                    return true;
                }
                case AWAITING_LOCK -> {
                    if (mustWaitForEviction() || !lock()) {
                        return false;
                    }
                    state = State.DECIDING;
                }
                case DECIDING -> {
                    if (decision.decide()) {
                        state = State.AWAITING_SPACE;
                    } else if (decision.session().awaitsSession()) {
                        return false;
                    } else {
                        end();
                    }
                }
                case AWAITING_SPACE -> {
                    if (isClosed()) {
                        return false; // until it has left: then the client goes to the next primary at once
                    }
                    awaitsWindow = !worker.hasWindow();
                    if (awaitsWindow) {
                        worker.pressure().wakeUp(worker.serverId());
                        return false;
                    }
                    final Status refused = admission.attempt();
                    if (refused == Status.OK) {
                        // Stored before the entry can be there: recovery looks at this address.
                        address = worker.tLog().nextAddress();
                        state = State.WRITING;
                        write();
                    } else if (refused == Status.NO_REPLY) {
                        return false;
                    } else {
                        decision.refuse(refused);
                        end();
                    }
                }
                case WRITING -> throw new AssertionError("an interrupted write was not recovered");
                case AWAITING_BACKUPS -> {
                    if (!isOnAllReplicas()) {
                        return false;
                    }
                    Chaos.point("request.before-index");
                    state = State.APPLYING;
                }
                case APPLYING -> {
                    apply();
                    if (decision.applied()) {
                        Chaos.point("request.before-reply");
                        end();
                    } else {
                        state = State.DECIDING;
                    }
                }
            }
        }
    }

    /**
     * The previous owner failed in some step. What was begun and is not in the log is dropped; what is in the log is
     * completed. No response is sent: the request belongs to a dead caller.
     */
    boolean recover() {
        decision.orphan();
        switch (state) {
            case IDLE -> {}
            case AWAITING_LOCK, DECIDING -> end();
            case AWAITING_SPACE -> {
                admission.release();
                end();
            }
            case WRITING -> {
                if (isInLog()) {
                    worker.tLog().flush(address, admission.length());
                    ticket = worker.tLog().request();
                    replication.begin(replica().shardId(), address);
                    state = State.AWAITING_BACKUPS;
                } else {
                    dropUnwritten();
                }
            }
            case AWAITING_BACKUPS -> {
                if (replicating) {
                    replication.interrupted();
                }
            }
            case APPLYING -> {}
        }
        request = null;
        while (state == State.AWAITING_BACKUPS || state == State.APPLYING) {
            if (state == State.AWAITING_BACKUPS && !isOnAllReplicas()) {
                return false;
            }
            state = State.APPLYING;
            apply();
            end();
        }
        return true;
    }

    /** Whether its entry lies in that segment of the t-log, and is not on all replicas or not in the index yet. */
    boolean isUnderWayIn(int segment) {
        return switch (state) {
            case WRITING, AWAITING_BACKUPS, APPLYING -> worker.segments().segmentOf(address) == segment;
            case IDLE, AWAITING_LOCK, DECIDING, AWAITING_SPACE -> false;
        };
    }

    /** The polling thread failed, so acknowledgements may be lost: unacknowledged messages are sent again. */
    void acknowledgementsLost() {
        if (state == State.AWAITING_BACKUPS) {
            replication.acknowledgementsLost();
        }
    }

    /** Whether it has neither a version nor an entry. */
    private boolean isUnwritten() {
        return switch (state) {
            case AWAITING_LOCK, DECIDING, AWAITING_SPACE -> true;
            case IDLE, WRITING, AWAITING_BACKUPS, APPLYING -> false;
        };
    }

    private boolean isInForce() {
        return primary != null && worker.isInForce(primary);
    }

    private boolean isClosed() {
        return primary != null && !worker.mayBegin(primary) && isInForce();
    }

    boolean awaitsLock() {
        return state == State.AWAITING_LOCK;
    }

    boolean awaitsWindow() {
        return state == State.AWAITING_SPACE && awaitsWindow;
    }

    /** Nothing is written yet: ends without a trace and without a response. */
    boolean withdraw() {
        if (state != State.AWAITING_LOCK && state != State.AWAITING_SPACE) {
            return false;
        }
        admission.release();
        end();
        return true;
    }

    private ShardReplica replica() {
        if (primary == null) {
            throw new AssertionError("no shard");
        }
        return primary.replica();
    }

    /** Without a lock, which the eviction may need; so whether an object is added is not known yet. */
    private boolean mustWaitForEviction() {
        final Request asked = request;
        if (limited == null || asked == null || asked.operation() != Operation.PUT || !limited.mustWait()) {
            return false;
        }
        limited = worker.limits().find(Parts.cacheOf(asked.cacheId())); // its limit may have changed
        worker.pressure().wakeUp(worker.serverId());
        return true;
    }

    private boolean lock() {
        final KeyLocks locks = replica().keyLocks();
        while (stripesHeld < stripesNeeded) {
            if (!locks.tryLock(firstStripe + stripesHeld, lockOwner())) {
                return false;
            }
            stripesHeld++;
        }
        return true;
    }

    private void end() {
        final KeyLocks locks = replica().keyLocks();
        // One by one and counted, so that an interrupted end can be repeated.
        while (stripesHeld > 0) {
            locks.unlock(firstStripe + stripesHeld - 1, lockOwner());
            stripesHeld--;
        }
        decision.end();
        draft.end();
        admission.end();
        replicating = false;
        state = State.IDLE;
        request = null;
    }

    private void write() {
        final ShardPrimary shard = primary;
        if (shard == null) {
            throw new AssertionError("no shard");
        }
        final int shardId = shard.replica().shardId();
        worker.inFlightWindow().announce(slot, shardId, shard.versions().lowerBound());
        // Behind the announcement: what puts other roles in force, and then finds no announcement, can rely on it that
        // no more versions are taken.
        if (!worker.mayBegin(shard)) {
            decision.refuseNotPrimary();
            dropUnwritten();
            return;
        }
        worker.writes(admission.length());
        final long version = shard.versions().take();
        Chaos.point("request.version-taken");
        worker.inFlightWindow().exact(slot, version);
        Chaos.point("request.after-version");
        worker.tLog().append(draft.version(version), shard.replica().tenure());
        ticket = worker.tLog().request();
        Chaos.point("request.after-tlog");
        replication.begin(shardId, address);
        state = State.AWAITING_BACKUPS;
    }

    /** The version is announced, and no entry has it: nothing of the mutation remains. */
    private void dropUnwritten() {
        worker.inFlightWindow().finished(slot);
        admission.takeBack();
        end();
    }

    private boolean isOnAllReplicas() {
        // Posted first: the backups' devices work in parallel with this one. The roles last: acknowledgements counted
        // before are of backups that this primary had.
        return replicate() && isForced() && isInForce();
    }

    private boolean replicate() {
        replicating = true;
        final boolean complete = replication.advance();
        replicating = false;
        return complete;
    }

    private boolean isForced() {
        return ticket == 0 || worker.tLog().isForced(ticket);
    }

    private boolean isInLog() {
        final long word = FrameDescriptor.wordAcquire(
                worker.segments().region().buffer(address),
                worker.segments().region().offset(address));
        return FrameDescriptor.generation(word)
                        == worker.segments().generation(worker.segments().segmentOf(address))
                && FrameDescriptor.isEntryType(FrameDescriptor.type(word));
    }

    private void apply() {
        final long word = FrameDescriptor.wordPlain(
                worker.segments().region().buffer(address),
                worker.segments().region().offset(address));
        final int type = FrameDescriptor.type(word);
        final Change change = changeCapture.of(
                replica(),
                position,
                address,
                type,
                draft.cacheId(),
                draft.version(),
                current.present && !current.damaged);
        final int freed = replica()
                .apply(
                        lockOwner(),
                        position,
                        current.address,
                        current.generation,
                        address,
                        type,
                        FrameDescriptor.length(word));
        if (freed > 0) {
            worker.grant().release(freed);
        }
        if (change != null) {
            // Before it counts as finished: a reader of all finished changes must find it.
            replica().changes().add(cacheIdAt(address), change);
        }
        worker.inFlightWindow().finished(slot);
        endParts(type);
        if (EntryType.holdsObject(type)) {
            noteObject();
        }
    }

    /** A touch keeps the value, so its parts too. */
    private void endParts(int type) {
        final ShardPrimary shard = primary;
        final PartList list = current.parts;
        if (list != null && !current.damaged && shard != null && (type == EntryType.PUT || type == EntryType.DELETE)) {
            shard.parts().ended(Parts.of(draft.cacheId()), list, worker.clock().nanoTime());
        }
    }

    private int cacheIdAt(long entry) {
        return EntryDescriptor.cacheId(
                worker.segments().region().buffer(entry),
                worker.segments().region().offset(entry));
    }

    /**
     * An object that was there before is marked as used, unless it gets another lifetime. The limit is read now: a
     * limit set after this mutation began was compared with counts that lacked its object.
     */
    private void noteObject() {
        VarHandle
                .fullFence(); // counts before limit: either this check sees a new limit, or that limit's check sees the
        // object
        final LimitedCache cache = worker.limits().find(Parts.cacheOf(cacheIdAt(address)));
        if (cache == null) {
            return;
        }
        final int flags = EntryDescriptor.flags(
                worker.segments().region().buffer(address),
                worker.segments().region().offset(address));
        if (ResultBits.has(EntryDescriptor.resultBits(flags), ResultBits.EXISTED)) {
            replica().index().marks().mark(position, address);
        }
        if (cache.look()) {
            worker.pressure().wakeUp(worker.serverId());
        }
    }
}
