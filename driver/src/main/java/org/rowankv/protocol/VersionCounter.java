package org.rowankv.protocol;

import java.util.concurrent.atomic.AtomicLong;

/** Gives out the versions of one shard on its primary, each once. Thread-safe. */
public final class VersionCounter {
    private final AtomicLong last;

    /** @param epoch of the shard; larger than that of every version given out before */
    public VersionCounter(int epoch) {
        this.last = new AtomicLong(Version.of(epoch, 0));
    }

    /** The version given out last. */
    public long last() {
        return last.get();
    }

    /** A lower bound of every version that will be taken from now on. */
    public long lowerBound() {
        return Version.next(last.get());
    }

    public long take() {
        return last.incrementAndGet();
    }
}
