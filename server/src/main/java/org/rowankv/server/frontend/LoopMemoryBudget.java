package org.rowankv.server.frontend;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.frame.BufferAccounting;

/**
 * The memory that the connections and requests of one loop hold, and what they may hold: buffers of unfinished frames, of
 * answers that are not sent, and of the keys and values of requests. Owned by the loop.
 *
 * <p>With half of the budget held it is <em>short</em>: each connection may have less under way, a longer frame waits for its
 * room, and what does not get on is closed soon. With all of it held it is <em>full</em>: the connection that has not got on for
 * longest is closed, if that was for {@value ClientEventLoop#CHECK_MS} ms; with twice as much held, in any case. Buffers grow in steps, so one step
 * may exceed that.
 */
final class LoopMemoryBudget implements BufferAccounting {
    /** A longer frame is read further only with room for all of it. */
    static final int SMALL_FRAME = 64 << 10;
    /** Read at once from a connection while memory is short. */
    static final int SHORT_READ = 16 << 10;

    private static final int MAX_OUTPUT = 1 << 20;
    private static final int SHORT_OUTPUT = 64 << 10;
    private static final int SHORT_IN_FLIGHT = 16;
    /** One question for changes may wait for long, and one to the catalogue. */
    private static final int FULL_IN_FLIGHT = 4;

    private final long budget;
    private final int maxInFlight;
    private final LoopCounters counts;
    private final ArrayDeque<ClientConnection> waiting = new ArrayDeque<>();
    private long held;
    private boolean ended;
    /** Whether nothing was waited for at some time since the last look. */
    private boolean calm = true;
    /** Frames that have room and are not whole yet. */
    private int granted;

    LoopMemoryBudget(long budget, int maxInFlight, LoopCounters counts) {
        this.budget = budget;
        this.maxInFlight = maxInFlight;
        this.counts = counts;
    }

    @Override
    public void changed(int delta) {
        if (!ended) { // what is answered behind the end gives back what is not counted any more
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

    /** Whether what does not get on keeps others from getting on. */
    boolean isWaitedFor() {
        return isShort() || !waiting.isEmpty();
    }

    boolean isFull() {
        return held >= budget;
    }

    /** Twice as much as may be held: nothing is spared. */
    boolean isOverfull() {
        return held >= 2 * budget;
    }

    /** Requests without an answer that a connection may have. */
    int maxInFlight() {
        return Math.min(maxInFlight, isFull() ? FULL_IN_FLIGHT : isShort() ? SHORT_IN_FLIGHT : Integer.MAX_VALUE);
    }

    /** With so many bytes of answers to send, no further request of a connection is taken. */
    int maxOutput() {
        return isFull() ? 1 : isShort() ? SHORT_OUTPUT : MAX_OUTPUT;
    }

    /**
     * Asks for room for the rest of a frame.
     *
     * @return whether there is; otherwise the connection gets it later, by {@link ClientConnection#onRoom}
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

    /** With one at a time, if there is room for none: so a frame larger than the budget gets on too. */
    private boolean hasRoom(int more) {
        return held + more < budget / 2 || granted == 0;
    }

    /** A frame with room is whole, or its connection is over; what it has not used is free. */
    void giveBack(int unused) {
        granted--;
        changed(-unused);
    }

    /** The last that has begun to wait for room, or null. */
    @Nullable
    ClientConnection lastWaiting() {
        return waiting.peekLast();
    }

    /** The loop is over. */
    void end() {
        counts.held(-held);
        held = 0;
        ended = true;
    }

    /** The connection is over. */
    void forget(ClientConnection connection) {
        final boolean unused = waiting.remove(connection);
        noteCalm();
    }

    /** Gives room to frames that wait for it, in the order in which they asked. */
    void turn() {
        while (!waiting.isEmpty() && hasRoom(waiting.peekFirst().wantedRoom())) {
            final ClientConnection next = waiting.removeFirst();
            granted++;
            changed(next.wantedRoom());
            next.onRoom();
        }
        noteCalm();
    }
}
