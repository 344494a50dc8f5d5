package org.rowankv.server.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** How far the entries of one replica have come. Each version only grows. Any thread, where nothing else is said. */
public final class ReplicaVersions {
    private static final VarHandle COMMITTED;
    private static final VarHandle SETTLED;
    private static final VarHandle FOUND;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            COMMITTED = lookup.findVarHandle(ReplicaVersions.class, "committed", long.class);
            SETTLED = lookup.findVarHandle(ReplicaVersions.class, "settled", long.class);
            FOUND = lookup.findVarHandle(ReplicaVersions.class, "found", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through COMMITTED
    private long committed;

    @SuppressWarnings("unused") // through FOUND
    private long found;

    private volatile long settled;

    private volatile long assembled;

    ReplicaVersions() {}

    /** CommitVer. */
    long committed() {
        return (long) COMMITTED.getAcquire(this);
    }

    void raiseCommitted(long version) {
        raise(COMMITTED, version);
    }

    private void raise(VarHandle field, long version) {
        long old = (long) field.getAcquire(this);
        while (version > old && !field.compareAndSet(this, old, version)) {
            old = (long) field.getAcquire(this);
        }
    }

    /** Every entry with a version ≤ it is on all replicas, and has taken effect here; {@code settled ≤} CommitVer. */
    public long settled() {
        return settled;
    }

    /** Everything up to CommitVer has taken effect here. */
    void settle() {
        raise(SETTLED, committed()); // digest and commit agents may race here
    }

    /** The largest version assembled here from blocks: it may be in a closed segment before it is settled. */
    public long assembled() {
        return assembled;
    }

    /** An entry was assembled here from blocks, by the single assembling thread. */
    public void raiseAssembled(long version) {
        assembled = Math.max(assembled, version);
    }

    /** The largest version of any entry found while the log was read. */
    long found() {
        return (long) FOUND.getAcquire(this);
    }

    void raiseFound(long version) {
        raise(FOUND, version);
    }
}
