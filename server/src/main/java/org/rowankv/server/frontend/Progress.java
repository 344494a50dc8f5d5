package org.rowankv.server.frontend;

/**
 * Whether bytes that are owed in one direction of a connection get on: since when fewer than {@value #STEP} bytes have moved.
 * Owned by the loop of the connection.
 */
final class Progress {
    /** Bytes that count as progress. */
    static final int STEP = 64 << 10;

    private boolean owed;
    private long sinceNs;
    private int moved;

    /** Whether bytes are owed from now on. */
    void owes(boolean nowOwed, PortLoop loop) {
        if (nowOwed && !owed) {
            restart(loop);
        }
        owed = nowOwed;
    }

    /** So many bytes have moved. */
    void moved(int bytes, PortLoop loop) {
        moved += bytes;
        if (owed && moved >= STEP) {
            restart(loop);
        }
    }

    /** What is owed begins anew, as another frame. */
    void restart(PortLoop loop) {
        sinceNs = loop.turnNs();
        moved = 0;
    }

    boolean isOwed() {
        return owed;
    }

    /** How long it has not got on; 0 if nothing is owed. */
    long ageNs(long nowNs) {
        return owed ? Math.max(0, nowNs - sinceNs) : 0;
    }
}
