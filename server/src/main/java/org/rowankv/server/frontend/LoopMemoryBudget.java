package org.rowankv.server.frontend;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.BufferAccounting;

/**
 * Memory budget of one loop: buffers of incomplete frames, unsent answers, and keys and values of requests. Owned by
 * the loop.
 *
 * <p>Above half of the budget memory is <em>short</em>: each connection has a smaller in-flight window, a longer frame
 * waits for memory, and stalled connections are closed soon. Above all of it memory is <em>full</em>: the longest
 * stalled connection is closed, if it has stalled for {@value ClientEventLoop#CHECK_MS} ms; above twice the budget, in
 * any case. Buffers grow in steps, so one step may exceed that.
 */
final class LoopMemoryBudget implements BufferAccounting {
    /** A longer frame is read further only with memory for all of it. */
    static final int SMALL_FRAME = 64 << 10;
    /** Bytes per read from a connection while memory is short. */
    static final int SHORT_READ = 16 << 10;

    private static final int MAX_OUTPUT = 1 << 20;
    private static final int SHORT_OUTPUT = 64 << 10;
    private static final int SHORT_IN_FLIGHT = 16;
    /** One change request and one catalogue request may wait for long. */
    private static final int FULL_IN_FLIGHT = 4;

    private final long budget;
    private final int maxInFlight;
    private final LoopCounters counts;
    private final ArrayDeque<ClientConnection> waiting = new ArrayDeque<>();
    private long held;
    private boolean ended;
    /** Whether no frame waited at some time since {@link #takeCalm}. */
    private boolean calm = true;
    /** Incomplete frames with a reservation. */
    private int granted;

    LoopMemoryBudget(long budget, int maxInFlight, LoopCounters counts) {
        this.budget = budget;
        this.maxInFlight = maxInFlight;
        this.counts = counts;
    }

    @Override
    public void changed(int delta) {
        if (!ended) { // answers after the end release memory that is no longer counted
            held += delta;
            counts.held(delta);
            noteCalm();
        }
    }

    private void noteCalm() {
        calm |= !isWaitedFor();
    }

    /** Whether {@link #isWaitedFor} was false at any time since the last call. */
    boolean takeCalm() {
        final boolean was = calm;
        calm = !isWaitedFor();
        return was;
    }

    boolean isShort() {
        return held >= budget / 2;
    }

    /** Whether stalled connections block others. */
    boolean isWaitedFor() {
        return isShort() || !waiting.isEmpty();
    }

    boolean isFull() {
        return held >= budget;
    }

    /** Held ≥ 2 × budget: no connection is spared. */
    boolean isOverfull() {
        return held >= 2 * budget;
    }

    /** In-flight window of a connection. */
    int maxInFlight() {
        return Math.min(maxInFlight, isFull() ? FULL_IN_FLIGHT : isShort() ? SHORT_IN_FLIGHT : Integer.MAX_VALUE);
    }

    /** With this many unsent bytes, a connection's requests are not processed further. */
    int maxOutput() {
        return isFull() ? 1 : isShort() ? SHORT_OUTPUT : MAX_OUTPUT;
    }

    /**
     * Reserves memory for the rest of a frame.
     *
     * @return whether it is available; otherwise {@link ClientConnection#onRoom} reports it later
     */
    boolean take(ClientConnection connection, int more) {
        if (waiting.isEmpty() && hasRoom(more)) {
            granted++;
            changed(more);
            return true;
        }
        waiting.addLast(connection);
        counts.frameWaited();
        return false;
    }

    /**
     * Grants one reservation at a time even beyond the budget, so that a frame larger than the budget progresses too.
     */
    private boolean hasRoom(int more) {
        return held + more < budget / 2 || granted == 0;
    }

    /** A frame with a reservation is complete, or its connection is closed; releases the unused bytes. */
    void release(int unused) {
        granted--;
        changed(-unused);
    }

    /** The last connection that began to wait for memory, or null. */
    @Nullable
    ClientConnection lastWaiting() {
        return waiting.peekLast();
    }

    /** The loop has ended. */
    void end() {
        counts.held(-held);
        held = 0;
        ended = true;
    }

    /** The connection is closed. */
    void forget(ClientConnection connection) {
        final boolean unused = waiting.remove(connection);
        noteCalm();
    }

    /** Grants memory to waiting frames, in FIFO order. */
    void grantWaiting() {
        while (!waiting.isEmpty() && hasRoom(waiting.peekFirst().requiredRoom())) {
            final ClientConnection next = waiting.removeFirst();
            granted++;
            changed(next.requiredRoom());
            next.onRoom();
        }
        noteCalm();
    }
}
