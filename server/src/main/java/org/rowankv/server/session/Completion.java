package org.rowankv.server.session;

import org.jspecify.annotations.Nullable;

/** The outcome of one applied mutation. Guarded by its {@link SessionTable}. */
public final class Completion {
    long sequence;
    long version;
    long previousVersion;
    int bits;
    long address;

    @Nullable
    Completion older;

    Completion copy() {
        final Completion copy = new Completion();
        copy.sequence = sequence;
        copy.version = version;
        copy.previousVersion = previousVersion;
        copy.bits = bits;
        copy.address = address;
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

    /** Of the entry in the log. */
    public long address() {
        return address;
    }
}
