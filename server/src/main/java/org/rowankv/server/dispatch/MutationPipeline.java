package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.Failures;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * The mutations of one event loop: many in flight in few worker contexts, so that what one cycle replicates is sent
 * together. The loop keeps its contexts while mutations are in flight; agents may acquire idle ones.
 *
 * <p>For one thread. Call {@link #poll} in every cycle of the loop, after new requests have begun.
 */
public final class MutationPipeline implements PollableCalls, MutationSlots {
    private final RequestDispatch dispatch;
    private final BatchPermit permit;
    private final Share[] shares;
    private final SlotShares slotShares;
    private final int atOnce;

    /** @param slots of the pool: the contexts that this loop acquires */
    public MutationPipeline(RequestDispatch dispatch, int[] slots, int atOnce) {
        this.dispatch = dispatch;
        this.permit = new BatchPermit(dispatch::mayAnswer);
        this.atOnce = atOnce;
        this.slotShares = new SlotShares(slots.length * atOnce);
        this.shares = new Share[slots.length];
        for (int i = 0; i < slots.length; i++) {
            shares[i] = new Share(slots[i], i * atOnce);
        }
    }

    @Override
    public PollableCall callOf(Request request) {
        return new WorkerCall(dispatch, this, permit, request);
    }

    @Override
    public void arrived() {
        permit.renew();
    }

    @Override
    public void poll() {
        permit.renew();
        Throwable failure = null;
        for (Share share : shares) {
            if (share.held) {
                try {
                    share.poll();
                } catch (RuntimeException | Error e) {
                    failure = e; // the other shares continue
                }
            }
        }
        if (failure != null) {
            Failures.rethrow(failure);
        }
    }

    @Override
    public void help() {
        dispatch.helpOthers();
    }

    @Override
    public int tryAcquire(Request request) {
        if (dispatch.isAnsweredInstead(request)) {
            return ANSWERED;
        }
        final Roles roles = dispatch.roles();
        if (!slotShares.hasFor(roles, request.shard())) {
            recount();
            if (!slotShares.hasFor(roles, request.shard())) {
                return NONE;
            }
        }
        for (int i = 0; i < shares.length; i++) {
            final int number = shares[i].acquire();
            if (number != NONE) {
                slotShares.take(i * atOnce + number, request.shard());
                return i * atOnce + number;
            }
        }
        return NONE;
    }

    /** Contexts given up with unfinished mutations count until they are seen again: nothing else would look there. */
    private void recount() {
        for (Share share : shares) {
            if (!share.held && share.unfinishedCount > 0 && share.hold()) {
                share.releaseIfUnused();
            }
        }
    }

    private Share shareOf(int slot) {
        return shares[slot / atOnce];
    }

    @Override
    public void release(int slot) {
        shareOf(slot).release(slot % atOnce);
    }

    @Override
    public boolean begin(int slot, ShardPrimary primary, Request request) {
        shareOf(slot).worker.begin(slot % atOnce, primary, request);
        return true;
    }

    @Override
    public boolean advance(int slot) {
        return shareOf(slot).worker.advance(slot % atOnce);
    }

    /** A worker context and the use of its slots by this loop. */
    private final class Share {
        private final int slot;
        /** Its first slot, of all of this loop. */
        private final int first;

        private final Worker worker;
        private final int[] free;
        private int freeCount;
        /** Released with an unfinished mutation, after an error or by an abandoned call: completed here. */
        private final int[] unfinished;

        private int unfinishedCount;
        private boolean held;

        Share(int slot, int first) {
            this.slot = slot;
            this.first = first;
            this.worker = dispatch.worker(slot);
            this.free = new int[atOnce];
            this.unfinished = new int[atOnce];
        }

        int acquire() {
            return (held || hold()) && freeCount > 0 ? free[--freeCount] : NONE;
        }

        /** Acquires the context; false if another owner has it. */
        boolean hold() {
            if (!dispatch.pool().tryAcquire(slot)) {
                return false;
            }
            held = true;
            freeCount = 0;
            unfinishedCount = 0;
            for (int number = atOnce - 1; number >= 0; number--) {
                sort(number);
            }
            return true;
        }

        private void sort(int number) {
            if (worker.isIdle(number)) {
                free(number);
            } else {
                unfinished[unfinishedCount++] = number;
            }
        }

        private void free(int number) {
            free[freeCount++] = number;
            slotShares.free(first + number);
        }

        void release(int number) {
            sort(number);
            if (!releaseIfUnused()) {
                dispatch.endLongPauses();
            }
        }

        /** The next owner of the context completes what is unfinished. */
        private boolean releaseIfUnused() {
            if (freeCount + unfinishedCount < atOnce) {
                return false;
            }
            held = false;
            dispatch.release(slot);
            return true;
        }

        void poll() {
            worker.poll();
            for (int i = 0; i < unfinishedCount; ) {
                if (worker.finishLeftover(unfinished[i])) {
                    free(unfinished[i]);
                    unfinished[i] = unfinished[--unfinishedCount];
                } else {
                    i++;
                }
            }
            releaseIfUnused();
        }
    }
}
