package org.rowankv.server.frontend;

import org.rowankv.protocol.frame.BufferAccounting;

/**
 * Reserved loop memory for the frame that a connection is sending: a longer frame is read further only with memory for
 * all of it. Owned by the loop of the connection.
 */
final class FrameReservations implements BufferAccounting {
    private final LoopMemoryBudget memory;
    private boolean granted;
    /** Number of the frame that holds the reservation. */
    private int grantedFrame;

    private long grantedNs;
    /** Part of the reservation that the buffer does not use yet: ≥ 0. */
    private int reserved;

    private boolean awaited;

    FrameReservations(LoopMemoryBudget memory) {
        this.memory = memory;
    }

    /** The buffer of the frame has grown or shrunk. */
    @Override
    public void changed(int delta) {
        final int fromRoom = Math.max(0, Math.min(delta, reserved));
        reserved -= fromRoom;
        if (delta != fromRoom) {
            memory.changed(delta - fromRoom);
        }
    }

    /**
     * Called after a read.
     *
     * @param frame number of the incomplete frame
     * @return whether that frame is later than the one with the reservation
     */
    boolean isPast(int frame) {
        if (!granted || grantedFrame == frame) {
            return false;
        }
        release();
        return true;
    }

    /** Reserves memory for the rest of a frame, unless it has a reservation. */
    void requestRoom(ClientConnection connection, int frame, int length) {
        if (granted || awaited || length <= LoopMemoryBudget.SMALL_FRAME) {
            return;
        }
        final int required = connection.requiredRoom();
        if (memory.take(connection, required)) {
            granted(frame, required, connection.loop().cycleNs());
        } else {
            awaited = true;
        }
    }

    /** The memory was reserved. */
    void granted(int frame, int room, long nowNs) {
        grantedNs = nowNs;
        awaited = false;
        granted = true;
        grantedFrame = frame;
        reserved = room;
    }

    /** Whether the frame waits for memory: the connection is not read meanwhile. */
    boolean isAwaited() {
        return awaited;
    }

    /** How long an incomplete frame has held its reservation; 0 if there is none. */
    long heldNs(long nowNs) {
        return granted ? Math.max(0, nowNs - grantedNs) : 0;
    }

    private void release() {
        granted = false;
        memory.release(reserved);
        reserved = 0;
    }

    /** The connection is closed. */
    void end(ClientConnection connection) {
        if (granted) {
            release();
        }
        if (awaited) {
            memory.forget(connection);
        }
        awaited = false;
    }
}
