package org.rowankv.server.dispatch;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.authority.AnswerPermit;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A pollable request that acquires a worker context when it needs one. After an error, the next owner of the context
 * completes the mutation.
 */
final class WorkerCall implements PollableCall {
    private static final int WAITS_BEFORE_HELP = 8;

    private final RequestDispatch dispatch;
    private final MutationSlots slots;
    private final AnswerPermit permit;
    private final Request request;
    private @Nullable ShardPrimary primary;
    private int slot = MutationSlots.NONE;
    private boolean begun;
    private int waits;

    /** @param permit for its reads: the server's, or what that said since the request arrived */
    WorkerCall(RequestDispatch dispatch, MutationSlots slots, AnswerPermit permit, Request request) {
        this.dispatch = dispatch;
        this.slots = slots;
        this.permit = permit;
        this.request = request;
    }

    @Override
    public void again() {
        if (slot >= 0) {
            throw new IllegalStateException("the previous request is unanswered");
        }
        primary = null;
        begun = false;
        waits = 0;
    }

    /**
     * Otherwise the server could never close. The next owner of the context, or a restart, completes a begun mutation.
     */
    @Override
    public void abandon() {
        if (slot >= 0) {
            slots.release(slot);
            slot = MutationSlots.NONE;
        }
    }

    @Override
    public boolean awaitsWorker() {
        return slot < 0;
    }

    @Override
    public boolean step() {
        boolean pending = false;
        try {
            pending = !advance();
            if (pending && ++waits == WAITS_BEFORE_HELP) {
                waits = 0;
                pending = false; // in case an error occurs here
                slots.onStall();
                pending = true;
            }
            return !pending;
        } finally {
            if (!pending && slot >= 0) {
                slots.release(slot);
                slot = MutationSlots.NONE;
            }
        }
    }

    private boolean advance() {
        ShardPrimary served = primary;
        if (served == null) {
            final Roles inForce = dispatch.roles();
            served = dispatch.servedPrimary(inForce, request.shard());
            if (served == null) {
                dispatch.refuse(request);
                return true;
            }
            if (dispatch.answersRead(inForce, served, request, permit)) {
                return true;
            }
            primary = served;
        }
        if (slot < 0) {
            if (!dispatch.roles().has(served)) {
                dispatch.refuse(request); // no slot is kept for shards that are not served here
                return true;
            }
            slot = slots.tryAcquire(request);
            if (slot < 0) {
                return slot == MutationSlots.ANSWERED;
            }
        }
        if (!begun) {
            begun = slots.begin(slot, served, request);
            if (!begun) {
                return false;
            }
        }
        return slots.advance(slot);
    }
}
