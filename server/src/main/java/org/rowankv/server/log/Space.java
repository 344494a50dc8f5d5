package org.rowankv.server.log;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that entries may still take from one server's area. Its own workers, and through the fabric the workers of
 * other servers, acquire credit from it before an entry gets a version. Shared by all; one atomic word.
 *
 * <p>Counts entries that are not dead, whether digested or not. Records that only end something take space
 * unconditionally and may make it negative, within the reserve that the limit leaves.
 */
public final class Space implements org.rowankv.rdma.CreditSource {
    private final AtomicLong available;
    private final long limit;

    public Space(long limit) {
        this.limit = limit;
        this.available = new AtomicLong(limit);
    }

    /** Takes the whole amount or nothing. */
    @Override
    public long acquire(long requested) {
        final long left = available.addAndGet(-requested);
        if (left >= 0) {
            return requested;
        }
        available.addAndGet(requested);
        return 0;
    }

    @Override
    public void release(long bytes) {
        available.addAndGet(bytes);
    }

    /** Takes the space of a record that must not be refused. */
    public void take(long bytes) {
        available.addAndGet(-bytes);
    }

    public long available() {
        return available.get();
    }

    public long limit() {
        return limit;
    }
}
