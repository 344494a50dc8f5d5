package org.rowankv.server.frontend;

import org.rowankv.protocol.frame.BufferAccounting;

/**
 * Room in a loop's memory for the frame that a connection is sending: a longer one is read further only with room for all of
 * it. Owned by the loop of the connection.
 */
final class FrameReservations implements BufferAccounting {
    private final LoopMemoryBudget memory;
    private boolean granted;
    /** Number of the frame that has the room. */
    private int grantedFrame;

    private long grantedNs;
    /** Of the room, what the buffer does not take yet: ≥ 0. */
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
     * Behind what was read.
     *
     * @param frame number of the frame that is not whole yet
     * @return whether that frame is another one than the one that had the room
     */
    boolean isPast(int frame) {
        if (!granted || grantedFrame == frame) {
            return false;
        }
        giveBack();
        return true;
    }

    /** Asks for room for the rest of a frame, unless it has it. */
    void want(ClientConnection connection, int frame, int length) {
        if (granted || awaited || length <= LoopMemoryBudget.SMALL_FRAME) {
            return;
        }
        final int wanted = connection.wantedRoom();
        if (memory.take(connection, wanted)) {
            granted(frame, wanted, connection.loop().turnNs());
        } else {
            awaited = true;
        }
    }

    /** There is room: it was taken. */
    void granted(int frame, int room, long nowNs) {
        grantedNs = nowNs;
        awaited = false;
        granted = true;
        grantedFrame = frame;
        reserved = room;
    }

    /** Whether the frame waits for room: the connection is not read meanwhile. */
    boolean isAwaited() {
        return awaited;
    }

    /** For how long a frame that is not whole has had its room; 0 if none has. */
    long heldNs(long nowNs) {
        return granted ? Math.max(0, nowNs - grantedNs) : 0;
    }

    private void giveBack() {
        granted = false;
        memory.giveBack(reserved);
        reserved = 0;
    }

    /** The connection is over. */
    void end(ClientConnection connection) {
        if (granted) {
            giveBack();
        }
        if (awaited) {
            memory.forget(connection);
        }
        awaited = false;
    }
}
