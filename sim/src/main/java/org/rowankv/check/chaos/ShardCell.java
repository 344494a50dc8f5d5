package org.rowankv.check.chaos;

/**
 * A key with one writer, which counts up its value. An answer lies between the highest acknowledged value before the
 * question, and the highest value sent before the answer. Written by one thread at a time, read by any.
 */
final class ShardCell {
    private final byte[] key;
    private volatile long issued;
    private volatile long acknowledged;

    ShardCell(byte[] key) {
        this.key = key;
    }

    byte[] key() {
        return key;
    }

    long issued() {
        return issued;
    }

    long acknowledged() {
        return acknowledged;
    }

    /** The next value, which is about to be sent. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // single writer
    long issue() {
        return ++issued;
    }

    void acknowledge(long value) {
        acknowledged = value;
    }

    /** Judges a read value: null if it is right, else the kind of error. */
    ChaosFindings.@org.jspecify.annotations.Nullable Kind judgeRead(long value, long floor) {
        return value < floor ? ChaosFindings.Kind.STALE : value > issued ? ChaosFindings.Kind.UNEXPLAINED : null;
    }

    /** Judges the value that an acknowledged write of {@code written} replaced. */
    ChaosFindings.@org.jspecify.annotations.Nullable Kind judgeReplaced(long replaced, long written) {
        return replaced == written
                ? ChaosFindings.Kind.DOUBLED
                : replaced < acknowledged
                        ? ChaosFindings.Kind.LOST
                        : replaced > acknowledged ? ChaosFindings.Kind.UNEXPLAINED : null;
    }
}
