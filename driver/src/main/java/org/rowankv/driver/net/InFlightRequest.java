package org.rowankv.driver.net;

import static java.util.Objects.requireNonNull;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;

/**
 * Slot of one request in flight over a connection. Its state decides which thread owns the request: caller, writer or
 * reader. After the caller has left, no thread reads from its arrays or writes into them.
 */
public final class InFlightRequest {
    /** Free, or being prepared by a caller. */
    static final int IDLE = 0;
    /** Waits for the writer. */
    static final int QUEUED = 1;
    /** The writer reads from the caller's arrays. */
    static final int WRITING = 2;
    /** It may have been sent. */
    static final int SENT = 3;
    /** The reader writes the response. */
    static final int ANSWERING = 4;
    /** The caller may read the outcome. */
    static final int DONE = 5;
    /** The caller left before the write; the writer drops it. */
    static final int CANCELLED = 6;
    /** The caller left after the write; the reader drops the response. */
    static final int ABANDONED = 7;

    /** The outcome in {@link #DONE}. */
    enum Outcome {
        ANSWERED,
        /** It was or may have been written, and no response will arrive. */
        LOST,
        /** It was not written. */
        UNSENT
    }

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(InFlightRequest.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int slot;
    private final @Nullable NetConnection connection;
    private long number;
    private @Nullable Request request;
    private @Nullable ControlRequest controlRequest;
    private Attempts.@Nullable AsyncCall async;
    private long term;
    private int shard;
    private long beginNs;
    private long deadlineNs;
    private Outcome outcome = Outcome.LOST;
    /** Link in the write queue. */
    private @Nullable InFlightRequest next;

    private volatile int state;
    private volatile @Nullable Thread parked;
    /** Whether the parked thread would read; written before {@link #parked}. */
    private boolean parkedReads;

    // Padding against false sharing between callers; never read.
    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    /** A slot of no connection. */
    public InFlightRequest(int slot) {
        this(slot, slot, null);
    }

    /** @param before the number before the first one, with the slot in its lower 16 bits */
    InFlightRequest(int slot, long before, @Nullable NetConnection connection) {
        this.slot = slot;
        this.number = before;
        this.connection = connection;
    }

    NetConnection connection() {
        return requireNonNull(connection);
    }

    int slot() {
        return slot;
    }

    /** Number of this use, with the slot in its lower 16 bits. */
    long number() {
        return number;
    }

    /**
     * Begins another use; called by the caller.
     *
     * @param ofShard that the request is for, as {@link ControlRequest#shard}
     * @param configurationTerm of the configuration by which it is routed
     */
    InFlightRequest begin(int ofShard, long configurationTerm, long nowNs, long newDeadlineNs) {
        number += 1L << 16;
        shard = ofShard;
        term = configurationTerm;
        beginNs = nowNs;
        deadlineNs = newDeadlineNs;
        return this;
    }

    /**
     * Sets what to send: one of both.
     *
     * @param newAsync for a caller that does not block, else null
     */
    void prepare(
            @Nullable Request newRequest,
            @Nullable ControlRequest newControlRequest,
            Attempts.@Nullable AsyncCall newAsync) {
        request = newRequest;
        controlRequest = newControlRequest;
        async = newAsync;
    }

    @Nullable
    Request request() {
        return request;
    }

    @Nullable
    ControlRequest controlRequest() {
        return controlRequest;
    }

    long term() {
        return term;
    }

    int shard() {
        return shard;
    }

    long beginNs() {
        return beginNs;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    Attempts.@Nullable AsyncCall async() {
        return async;
    }

    Outcome outcome() {
        return outcome;
    }

    @Nullable
    InFlightRequest next() {
        return next;
    }

    void next(@Nullable InFlightRequest newNext) {
        next = newNext;
    }

    /** Reverses a chain that starts with the newest; called by the writer. */
    static @Nullable InFlightRequest oldestFirst(@Nullable InFlightRequest newest) {
        InFlightRequest first = null;
        InFlightRequest each = newest;
        while (each != null) {
            final InFlightRequest older = each.next;
            each.next = first;
            first = each;
            each = older;
        }
        return first;
    }

    int state() {
        return state;
    }

    void state(int newState) {
        state = newState;
    }

    boolean changes(int from, int to) {
        return state == from && STATE.compareAndSet(this, from, to);
    }

    boolean isDone() {
        return state == DONE;
    }

    /** Takes the request from writer and reader: its outcome without a response. Null: one of them has it now. */
    @Nullable
    Outcome withdraw() {
        return changes(QUEUED, CANCELLED) ? Outcome.UNSENT : changes(SENT, ABANDONED) ? Outcome.LOST : null;
    }

    /** Called by the owner in {@link #ANSWERING} or {@link #WRITING}, which then wakes the returned caller. */
    @Nullable
    Thread done(Outcome newOutcome) {
        outcome = newOutcome;
        state = DONE;
        return parked;
    }

    /**
     * Announces that the caller is about to park.
     *
     * @param willRead whether it takes the reader role when woken
     */
    void parked(Thread caller, boolean willRead) {
        parkedReads = willRead;
        parked = caller;
    }

    /** The parked thread. */
    @Nullable
    Thread parked() {
        return parked;
    }

    /** Whether the deadline has passed; a hint to other threads than the caller. */
    boolean isOverdue(long nowNs) {
        return deadlineNs - nowNs <= 0;
    }

    /** The caller is neither parked nor about to park. */
    void awake() {
        parked = null;
    }

    /** The parked thread, if it reads when woken. */
    @Nullable
    Thread parkedReader() {
        final Thread caller = parked;
        return parkedReads ? caller : null;
    }

    /** Releases the references to the caller's objects. */
    void forget() {
        prepare(null, null, null);
    }
}
