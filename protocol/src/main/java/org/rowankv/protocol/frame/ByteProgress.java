package org.rowankv.protocol.frame;

/**
 * Whether bytes that are owed in one direction of a connection get on: since when fewer than {@value #STEP} bytes have moved. A
 * byte now and then is not enough. Owned by the connection.
 */
public final class ByteProgress {
    /** Bytes that count as progress. */
    static final int STEP = 64 << 10;

    private boolean owed;
    private long sinceNs;
    private int moved;

    /** Whether bytes are owed from now on. What was owed goes on; after a false what is owed begins anew, as another frame. */
    public void owes(boolean nowOwed, long nowNs) {
        if (nowOwed && !owed) {
            restart(nowNs);
        }
        owed = nowOwed;
    }

    /** So many bytes have moved. */
    public void moved(int bytes, long nowNs) {
        moved += bytes;
        if (owed && moved >= STEP) {
            restart(nowNs);
        }
    }

    private void restart(long nowNs) {
        sinceNs = nowNs;
        moved = 0;
    }

    public boolean isOwed() {
        return owed;
    }

    /** How long it has not got on; 0 if nothing is owed. */
    public long ageNs(long nowNs) {
        return owed ? Math.max(0, nowNs - sinceNs) : 0;
    }
}
