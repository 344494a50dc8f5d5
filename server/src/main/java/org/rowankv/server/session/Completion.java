package org.rowankv.server.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;

/**
 * The stored outcome of one mutation, for retries of its request. An applied one is rebuilt from its entry. One
 * without an entry is remembered in DRAM only, so that a late duplicate does not take effect after the response.
 * Guarded by its {@link SessionTable}.
 */
public final class Completion {
    long sequence;
    long version;
    long previousVersion;
    int bits;
    long address;
    Status status = Status.OK;
    /** Length of the entry if it is kept for this completion only, else 0. */
    int keptLength;

    @Nullable
    Completion older;

    Completion copy() {
        final Completion copy = new Completion();
        copy.sequence = sequence;
        copy.version = version;
        copy.previousVersion = previousVersion;
        copy.bits = bits;
        copy.address = address;
        copy.status = status;
        return copy;
    }

    public long version() {
        return version;
    }

    public long previousVersion() {
        return previousVersion;
    }

    /** {@link org.rowankv.protocol.ResultBits}. */
    public int bits() {
        return bits;
    }

    /** The status of the response. */
    public Status status() {
        return status;
    }

    /** Whether the mutation is in the log; else its response needed no entry. */
    public boolean isApplied() {
        return address != 0;
    }

    /** Of the entry in the log. */
    public long address() {
        return address;
    }
}
