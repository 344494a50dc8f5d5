package org.rowankv.bench.trace;

import java.util.Arrays;

/**
 * The writes of a store's servers to their areas, in the order in which they were reported. Each landing belongs to the
 * t-log entry that was appended last: one thread does both. Confined to that thread until it has ended.
 */
final class WriteTrace {
    /** Operation of a write that replicates no t-log entry. */
    static final int NO_OPERATION = -1;

    private static final int FIRST_CAPACITY = 1 << 16;

    private long[] addresses = new long[FIRST_CAPACITY];
    private int[] uses = new int[FIRST_CAPACITY];
    private int[] lengths = new int[FIRST_CAPACITY];
    private int[] paperLengths = new int[FIRST_CAPACITY];
    private int[] operations = new int[FIRST_CAPACITY];
    private byte[] servers = new byte[FIRST_CAPACITY];
    private byte[] owners = new byte[FIRST_CAPACITY];
    private int size;
    private int operationCount;
    private int measuredFrom;
    private boolean ended;

    /**
     * @param use generation of the segment's present use; 0 for the tables
     * @param paperLength bytes of the same entry in the paper's layout
     */
    void add(WriteOwner owner, int server, long address, int use, int length, int paperLength, boolean ofOperation) {
        if (ended) {
            return;
        }
        if (size == addresses.length) {
            grow();
        }
        if (owner == WriteOwner.WORKER) {
            operationCount++;
        }
        addresses[size] = address;
        uses[size] = use;
        lengths[size] = length;
        paperLengths[size] = paperLength;
        operations[size] = ofOperation ? operationCount - 1 : NO_OPERATION;
        servers[size] = (byte) server;
        owners[size] = (byte) owner.ordinal();
        size++;
    }

    private void grow() {
        final int capacity = 2 * size;
        addresses = Arrays.copyOf(addresses, capacity);
        uses = Arrays.copyOf(uses, capacity);
        lengths = Arrays.copyOf(lengths, capacity);
        paperLengths = Arrays.copyOf(paperLengths, capacity);
        operations = Arrays.copyOf(operations, capacity);
        servers = Arrays.copyOf(servers, capacity);
        owners = Arrays.copyOf(owners, capacity);
    }

    /** What follows is measured; what was before only fills the store. */
    void measureFromHere() {
        measuredFrom = size;
    }

    /** Nothing is added any more. */
    void end() {
        ended = true;
    }

    int measuredFrom() {
        return measuredFrom;
    }

    int size() {
        return size;
    }

    /** T-log entries; they are numbered from 0. */
    int operationCount() {
        return operationCount;
    }

    WriteOwner owner(int write) {
        return WriteOwner.of(owners[write]);
    }

    int server(int write) {
        return servers[write];
    }

    long address(int write) {
        return addresses[write];
    }

    int use(int write) {
        return uses[write];
    }

    int length(int write) {
        return lengths[write];
    }

    int paperLength(int write) {
        return paperLengths[write];
    }

    int operation(int write) {
        return operations[write];
    }

    /** Number of measured writes. */
    long entries(WriteOwner owner) {
        return sum(owner, measuredFrom, false);
    }

    /** Bytes of measured writes. */
    long bytes(WriteOwner owner) {
        return sum(owner, measuredFrom, true);
    }

    /** Bytes of all writes. */
    long allBytes(WriteOwner owner) {
        return sum(owner, 0, true);
    }

    private long sum(WriteOwner owner, int from, boolean bytes) {
        long sum = 0;
        for (int i = from; i < size; i++) {
            if (owners[i] == owner.ordinal()) {
                sum += bytes ? lengths[i] : 1;
            }
        }
        return sum;
    }
}
