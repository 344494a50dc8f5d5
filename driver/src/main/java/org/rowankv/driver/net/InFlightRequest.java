package org.rowankv.driver.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;

/**
 * A place for one request on its way over a connection. Its caller, whoever writes and whoever reads agree by its state who
 * may touch the request: nobody reads from a caller's arrays, or writes an answer into them, once that caller has gone.
 */
public final class InFlightRequest {
    /** Nobody's, or a caller's that prepares it. */
    static final int IDLE = 0;
    /** Waits to be written. */
    static final int QUEUED = 1;
    /** Whoever writes reads from the caller's arrays. */
    static final int WRITING = 2;
    /** It may have left. */
    static final int SENT = 3;
    /** Whoever reads writes the answer. */
    static final int ANSWERING = 4;
    /** The caller has what it will get. */
    static final int DONE = 5;
    /** The caller has gone before it was written; whoever writes drops it. */
    static final int CANCELLED = 6;
    /** The caller has gone after it was written; whoever reads drops the answer. */
    static final int ABANDONED = 7;

    /** How it ended, when it is {@link #DONE}. */
    enum Outcome {
        ANSWERED,
        /** It was written, or may have been, and there will be no answer. */
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
    private long number;
    private @Nullable Request request;
    private @Nullable ControlRequest question;
    private @Nullable AsyncCall async;
    private long term;
    private Outcome outcome = Outcome.LOST;
    /** In the queue of what is to be written. */
    private @Nullable InFlightRequest next;

    private volatile int state;
    private volatile @Nullable Thread parked;
    /** Of whom is parked; written before. */
    private boolean reads;
    /** Until when who does not read waits; written before it parks. */
    private long deadlineNs;

    // Keeps two callers' places off one cache line; never read.
    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7;

    public InFlightRequest(int slot) {
        this(slot, slot);
    }

    /** @param before the number before the first one, with the slot in its lower 16 bits */
    public InFlightRequest(int slot, long before) {
        this.slot = slot;
        this.number = before;
    }

    int slot() {
        return slot;
    }

    /** Of this use: the slot in its lower 16 bits. */
    long number() {
        return number;
    }

    private void begin() {
        number += 1L << 16;
    }

    /**
     * By the caller: what is to be sent.
     *
     * @param newAsync for a caller that does not wait, else null
     */
    void prepare(Request newRequest, long configurationTerm, @Nullable AsyncCall newAsync) {
        begin();
        request = newRequest;
        question = null;
        term = configurationTerm;
        async = newAsync;
    }

    void prepare(ControlRequest newQuestion) {
        begin();
        request = null;
        question = newQuestion;
        async = null;
    }

    @Nullable
    Request request() {
        return request;
    }

    @Nullable
    ControlRequest question() {
        return question;
    }

    long term() {
        return term;
    }

    @Nullable
    AsyncCall async() {
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

    /** Turns such a chain round, of which the newest was the first; by who writes it. */
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

    /** By who holds it in {@link #ANSWERING} or {@link #WRITING}. Its waiting caller is to be woken up afterwards. */
    @Nullable
    Thread done(Outcome newOutcome) {
        outcome = newOutcome;
        state = DONE;
        return parked;
    }

    /**
     * The caller announces that it is about to park.
     *
     * @param willRead whether it reads if it is woken up for that
     */
    void parked(Thread caller, boolean willRead) {
        reads = willRead;
        parked = caller;
    }

    /** Until when the caller waits, who does not read. */
    void deadline(long newDeadlineNs) {
        deadlineNs = newDeadlineNs;
    }

    /** Who is parked, and does not read. */
    @Nullable
    Thread parkedOther() {
        final Thread caller = parked;
        return caller != null && !reads ? caller : null;
    }

    /** Whether who is parked, and does not read, waits too long. */
    boolean isOverdue(long nowNs) {
        return parkedOther() != null && deadlineNs - nowNs <= 0;
    }

    /** The caller is not parked, nor about to be. */
    void awake() {
        parked = null;
    }

    /** Who is parked, and reads if it is woken up for that. */
    @Nullable
    Thread parkedReader() {
        final Thread caller = parked;
        return reads ? caller : null;
    }

    /** What it referred to is its caller's alone again. */
    void forget() {
        request = null;
        question = null;
        async = null;
    }
}
