package org.rowankv.bench.paper.cluster;

/** A log of one server: consecutive addresses, in a range of their own. */
final class Log {
    private long next;

    Log(long base) {
        next = base;
    }

    long append(int length) {
        final long address = next;
        next += length;
        return address;
    }
}
