package org.rowankv.server.frontend;

import java.util.BitSet;
import org.rowankv.server.dispatch.PollableCalls;

/** A server whose primaries a test sets; it executes nothing. */
final class PrimariesBackend implements RequestBackend {
    final BitSet primaries = new BitSet();
    private final int serverId;
    private Runnable observer = () -> {};

    PrimariesBackend(int serverId) {
        this.serverId = serverId;
    }

    void set(int shard, boolean isPrimary) {
        primaries.set(shard, isPrimary);
        observer.run();
    }

    @Override
    public int serverId() {
        return serverId;
    }

    @Override
    public PollableCalls calls(int loop, int loops) {
        return request -> {
            throw new AssertionError("no requests here");
        };
    }

    @Override
    public boolean isPrimary(int shard) {
        return primaries.get(shard);
    }

    @Override
    public void observe(Runnable newObserver) {
        observer = newObserver;
    }

    @Override
    public boolean isServing() {
        return true;
    }

    @Override
    public long scan(int cacheId, int shard, long position, boolean withValues, Visitor visitor) {
        throw new AssertionError("no scans here");
    }
}
