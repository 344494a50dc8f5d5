package org.rowankv.server.dispatch;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.StackProbe;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.durability.ForceFailedException;
import org.rowankv.server.request.FoundEntry;
import org.rowankv.server.request.ObjectReader;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;

/**
 * Dispatches a server's requests: refuses what the server does not serve, answers reads at once, and executes mutations
 * in an acquired worker context, on the calling thread (docs/design/cluster.md). A waiting caller runs work
 * that it may depend on (helping).
 *
 * <p>Every wait ends: by progress, by the failure of the server, or at the deadline. An unfinished mutation stays in
 * its worker context, and the next owner of the context completes it.
 *
 * <p>Thread-safe; without a lock and without allocation.
 */
public final class RequestDispatch implements MutationSlots {
    private static final int SPINS = 32;
    private static final int YIELDS = 256;
    private static final long PARK_NS = 50_000;
    /** Minimum number of pauses in a wait: a process that did not run for a while finds its deadlines passed. */
    private static final int LEAST_WAITS = YIELDS + 1_000;

    public static final long DEFAULT_DEADLINE_NS = 30_000_000_000L;
    /** How much longer than its deadline a caller may take to release its context. */
    private static final long OWNERS_GRACE_NS = 10_000_000_000L;
    /** Stack frames, more than any mutation needs: the end of its caller's stack must not interrupt a mutation. */
    private static final int PROBE_DEPTH = 12;

    private final int serverId;
    private final CurrentRoles roles;
    private final AnswerPermit permit;
    private final ObjectReader reader;
    private final WorkerPool pool;
    private final ServerAgents agents;
    private final ServingState serving;
    private final Scheduling scheduling;
    private final Clock clock;
    private final IntConsumer wakeUp;
    /** Set before the start. */
    private long deadlineNs = DEFAULT_DEADLINE_NS;

    /** @param wakeUp wakes the agents of a server of the cluster */
    public RequestDispatch(
            int serverId,
            CurrentRoles roles,
            AnswerPermit permit,
            ObjectReader reader,
            WorkerPool pool,
            ServerAgents agents,
            ServingState serving,
            Scheduling scheduling,
            Clock clock,
            IntConsumer wakeUp) {
        this.serverId = serverId;
        this.roles = roles;
        this.permit = permit;
        this.reader = reader;
        this.pool = pool;
        this.agents = agents;
        this.serving = serving;
        this.scheduling = scheduling;
        this.clock = clock;
        this.wakeUp = wakeUp;
    }

    /** How long one request may wait. Call before the start. */
    public void deadline(long ns) {
        deadlineNs = ns;
    }

    /** Executes the request on the calling thread, and waits for its answer. */
    public void call(Request request) {
        try {
            final Roles inForce = roles.get();
            final ShardPrimary primary = servedPrimary(inForce, request.shard());
            if (primary == null) {
                refuse(request);
            } else if (!answersRead(inForce, primary, request, permit)) {
                mutate(primary, request);
            }
        } catch (InternalError e) {
            throw serving.faulty(e);
        }
    }

    /** As {@link #call}, for a caller that polls. */
    public PollableCall stepped(Request request) {
        return new WorkerCall(this, this, permit, request);
    }

    /** The primary of the shard; null if another server has it, or this one does not serve. */
    @Nullable
    ShardPrimary servedPrimary(Roles inForce, int shard) {
        return serving.isOpen() ? inForce.find(shard) : null;
    }

    /** The replica of a shard, if this server serves the shard as its primary now; else null. */
    public @Nullable ShardReplica servedReplica(int shard) {
        final ShardPrimary primary = servedPrimary(roles.get(), shard);
        return primary == null ? null : primary.replica();
    }

    /**
     * Whether a read now would find the same entry, and return the object: this server must serve the shard, as for a
     * read, and by the same replica; then its index decides, see {@link ObjectReader#isCurrent}.
     */
    public boolean isCurrent(FoundEntry entry) {
        return servedReplica(entry.replica().shardId()) == entry.replica() && reader.isCurrent(entry);
    }

    /** Refuses a request for a shard that is not served here. */
    void refuse(Request request) {
        refuse(request, serving.isOpen() ? Status.NOT_PRIMARY : Status.CLOSED);
    }

    private void refuse(Request request, Status why) {
        serving.requireNotRefused();
        request.noResult();
        request.answer(why, 0, 0, 0);
    }

    /**
     * Answers a read that writes nothing, or refuses it; false if the request needs a worker context.
     *
     * @param inForce in which it is the shard's primary
     * @param permitted the server's permit, or what it said since the request arrived
     */
    boolean answersRead(Roles inForce, ShardPrimary primary, Request request, AnswerPermit permitted) {
        if (request.operation() != Operation.GET || request.accessTtlMs() != Ttl.UNCHANGED) {
            return false;
        }
        if (!permitted.mayAnswer()) {
            refuse(request, Status.NOT_PRIMARY);
            return true;
        }
        if (!reader.get(primary.replica(), request, primary.versions().last())) {
            return false;
        }
        if (!roles.has(primary, inForce)) {
            refuse(request, Status.NOT_PRIMARY); // the replica may hold what another primary has not committed
        }
        return true;
    }

    /**
     * Begins a read of a shard's replica that no request carries; {@link #endRead} follows.
     *
     * @throws NotServedException if it is not served here
     */
    public ShardPrimary beginRead(int shard) {
        serving.requireNotRefused();
        final ShardPrimary primary = roles.get().find(shard);
        if (primary == null || !permit.mayAnswer()) {
            throw notPrimary(shard);
        }
        return primary;
    }

    /**
     * Ends a read.
     *
     * @throws NotServedException if another server may be the primary by now: what was read is void
     */
    public void endRead(ShardPrimary primary) {
        if (!roles.has(primary)) {
            throw notPrimary(primary.replica().shardId());
        }
    }

    private NotServedException notPrimary(int shard) {
        return new NotServedException(
                Status.NOT_PRIMARY,
                "server " + serverId + " is not the primary of shard " + shard + ", or may not answer alone now",
                null);
    }

    /** Whether this server may answer a read now, asked after the read's request has arrived. */
    public boolean mayAnswer() {
        return permit.mayAnswer();
    }

    /** Refuses the request if nothing is served any more; returns whether it did. */
    boolean isAnsweredInstead(Request request) {
        if (serving.isOpen()) {
            return false;
        }
        refuse(request, Status.CLOSED);
        return true;
    }

    /** Acquires a worker context for the request alone. */
    @Override
    public int tryAcquire(Request request) {
        return isAnsweredInstead(request) ? ANSWERED : pool.tryAcquire();
    }

    @Override
    public void release(int slot) {
        try {
            pool.worker(slot).settleLog();
        } finally {
            pool.drop(slot);
        }
        endLongPauses();
    }

    /** A mutation has ended: the agents must propagate CommitVer. */
    void endLongPauses() {
        agents.endLongPauses();
    }

    @Override
    public boolean begin(int slot, ShardPrimary primary, Request request) {
        final Worker worker = pool.worker(slot);
        if (!worker.finishLeftover()) {
            return false;
        }
        worker.begin(primary, request);
        return true;
    }

    @Override
    public boolean advance(int slot) {
        return pool.worker(slot).advance();
    }

    @Override
    public void onStall() {
        helpOthers();
    }

    WorkerPool pool() {
        return pool;
    }

    Roles roles() {
        return roles.get();
    }

    Worker worker(int slot) {
        return pool.worker(slot);
    }

    private void mutate(ShardPrimary primary, Request request) {
        StackProbe.require(PROBE_DEPTH);
        final int slot = acquire(request);
        if (slot == ANSWERED) {
            return;
        }
        boolean isReleased = false;
        boolean begun = false;
        try {
            final Worker worker = pool.worker(slot);
            long waits = 0;
            long untilNs = 0;
            while (!worker.finishLeftover()) {
                untilNs = pause(waits++, untilNs, false);
            }
            begun = true;
            worker.begin(primary, request);
            while (!worker.advance()) {
                untilNs = pause(waits++, untilNs, true);
            }
            worker.settleLog();
            pool.release(slot);
            isReleased = true;
        } catch (ForceFailedException e) {
            // The failure of the server precedes this exception; callers receive the same one in either order.
            serving.requireNotFailed(begun);
            throw e;
        } finally {
            if (!isReleased) {
                pool.drop(slot);
            }
            endLongPauses();
        }
    }

    private int acquire(Request request) {
        int slot = tryAcquire(request);
        long untilNs = 0;
        for (long waits = 0; slot == NONE; waits++) {
            untilNs = pause(waits, untilNs, false);
            slot = tryAcquire(request);
        }
        return slot;
    }

    /**
     * One pause of the calling thread, which waits for progress elsewhere and helps.
     *
     * @param untilNs result of the previous pause
     * @param begun whether the request may have taken effect
     * @return the deadline
     * @throws NotServedException if the server has failed, or the deadline has passed
     */
    private long pause(long waits, long untilNs, boolean begun) {
        long passesNs = untilNs;
        if (waits >= YIELDS) {
            serving.requireNotFailed(begun);
            requireAgents(begun);
            if (waits == YIELDS) {
                passesNs = clock.nanoTime() + deadlineNs;
            } else if (waits >= LEAST_WAITS && clock.nanoTime() - passesNs >= 0) {
                throw new NotServedException(
                        begun ? Status.OUTCOME_UNKNOWN : Status.UNREACHABLE,
                        "server " + serverId + " made no progress with the operation for " + deadlineNs / 1_000_000
                                + " ms" + (begun ? "; it may still take effect" : ", which was not begun"),
                        null);
            }
        }
        rest(waits);
        return passesNs;
    }

    /** Detects agents stopped other than by {@link ServingState#fail}: their error could not be propagated. */
    private void requireAgents(boolean begun) {
        if (serving.isOpen() && agents.isClosed()) {
            throw new NotServedException(
                    begun ? Status.OUTCOME_UNKNOWN : Status.CLOSED,
                    "server " + serverId
                            + " has failed: a broken invariant, reported in the log, has stopped its agents;"
                            + " close the store and open it again",
                    null);
        }
    }

    /**
     * Waits until every mutation ends. Call once nothing is served any more.
     *
     * @param isOver whether no mutation in flight can end any more
     */
    public void close(BooleanSupplier isOver) {
        final WaitLimit ofOwners = new WaitLimit(clock, deadlineNs + OWNERS_GRACE_NS);
        pool.close(this::rest, ofOwners::isOver, isOver);
    }

    /** After {@link #close}: why the area must not be used by others; null if it may. */
    public @Nullable IllegalStateException whyInUse() {
        return pool.isInUse()
                ? new IllegalStateException("an operation on server " + serverId + " has not ended "
                        + (deadlineNs + OWNERS_GRACE_NS) / 1_000_000 + " ms after the close began, and may still write:"
                        + " find its thread in a thread dump, end this process, and start again")
                : null;
    }

    /** One pause in a wait for progress. */
    public void rest(long waits) {
        if (waits < SPINS) {
            Thread.onSpinWait();
        } else if (waits < YIELDS) {
            Thread.yield();
        } else {
            helpOthers();
            scheduling.park(PARK_NS);
        }
    }

    /** Runs work of others that a long wait may depend on. */
    void helpOthers() {
        wakeUp.accept(serverId);
        pool.completeAbandoned();
    }
}
