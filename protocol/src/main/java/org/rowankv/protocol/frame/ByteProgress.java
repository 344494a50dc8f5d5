package org.rowankv.protocol.frame;

/**
 * Progress of the bytes due in one direction of a connection: time since less than {@value #STEP} bytes moved. An
 * occasional byte is not enough. Owned by the connection.
 */
public final class ByteProgress {
    /** Bytes that count as progress. */
    static final int STEP = 64 << 10;

    private boolean owed;
    private long sinceNs;
    private int moved;

    /** Sets whether bytes are due. Due bytes stay due; after a false the next ones start anew, as another frame. */
    public void owes(boolean nowOwed, long nowNs) {
        if (nowOwed && !owed) {
            restart(nowNs);
        }
        owed = nowOwed;
    }

    /** That many bytes have moved. */
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

    /** Time without progress; 0 if nothing is due. */
    public long ageNs(long nowNs) {
        return owed ? Math.max(0, nowNs - sinceNs) : 0;
    }
}
