package org.rowankv.server.dispatch;

import org.rowankv.protocol.Request;
import org.rowankv.runtime.Failures;
import org.rowankv.server.request.Worker;
import org.rowankv.server.shard.ShardPrimary;

/**
 * The requests of one event loop: many mutations under way in few worker contexts, which it borrows while there are any, so
 * that what it replicates in one turn goes out together. The contexts are the loop's as long as nobody else needs them: agents
 * borrow those that rest.
 *
 * <p>For one thread. {@link #turn} is to be called in every turn of the loop, behind what began requests.
 */
public final class MutationPipeline implements PollableCalls, MutationSlots {
    private final RequestDispatch dispatch;
    private final Share[] shares;
    private final int atOnce;

    /** @param slots of the pool: the contexts that this loop borrows */
    public MutationPipeline(RequestDispatch dispatch, int[] slots, int atOnce) {
        this.dispatch = dispatch;
        this.atOnce = atOnce;
        this.shares = new Share[slots.length];
        for (int i = 0; i < slots.length; i++) {
            shares[i] = new Share(slots[i]);
        }
    }

    @Override
    public PollableCall callOf(Request request) {
        return new WorkerCall(dispatch, this, request);
    }

    @Override
    public void turn() {
        Throwable failure = null;
        for (Share share : shares) {
            if (share.held) {
                try {
                    share.turn();
                } catch (RuntimeException | Error e) {
                    failure = e; // the others go on
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
    public int tryBorrow(Request request) {
        if (dispatch.isAnsweredInstead(request)) {
            return ANSWERED;
        }
        for (int i = 0; i < shares.length; i++) {
            final int number = shares[i].borrow();
            if (number != NONE) {
                return i * atOnce + number;
            }
        }
        return NONE;
    }

    private Share shareOf(int place) {
        return shares[place / atOnce];
    }

    @Override
    public void giveBack(int place) {
        shareOf(place).giveBack(place % atOnce);
    }

    @Override
    public boolean begin(int place, ShardPrimary primary, Request request) {
        shareOf(place).worker.begin(place % atOnce, primary, request);
        return true;
    }

    @Override
    public boolean advance(int place) {
        return shareOf(place).worker.advance(place % atOnce);
    }

    /** A worker context, and who uses what of it. */
    private final class Share {
        private final int slot;
        private final Worker worker;
        private final int[] free;
        private int freeCount;
        /** Given back in the middle, by an error or since nobody waits any more: they are finished here. */
        private final int[] left;

        private int leftCount;
        private boolean held;

        Share(int slot) {
            this.slot = slot;
            this.worker = dispatch.worker(slot);
            this.free = new int[atOnce];
            this.left = new int[atOnce];
        }

        int borrow() {
            if (!held) {
                if (!dispatch.pool().tryBorrow(slot)) {
                    return NONE;
                }
                held = true;
                freeCount = 0;
                leftCount = 0;
                for (int number = atOnce - 1; number >= 0; number--) {
                    sort(number);
                }
            }
            return freeCount == 0 ? NONE : free[--freeCount];
        }

        private void sort(int number) {
            if (worker.isIdle(number)) {
                free[freeCount++] = number;
            } else {
                left[leftCount++] = number;
            }
        }

        void giveBack(int number) {
            sort(number);
            if (!releaseIfUnused()) {
                dispatch.rouse();
            }
        }

        /** What is left is finished by whoever borrows it next. */
        private boolean releaseIfUnused() {
            if (freeCount + leftCount < atOnce) {
                return false;
            }
            held = false;
            dispatch.giveBack(slot);
            return true;
        }

        void turn() {
            worker.poll();
            for (int i = 0; i < leftCount; ) {
                if (worker.finishLeftover(left[i])) {
                    free[freeCount++] = left[i];
                    left[i] = left[--leftCount];
                } else {
                    i++;
                }
            }
            releaseIfUnused();
        }
    }
}
