package org.rowankv.server.shard;

/** A set of numbers other than 0, by open addressing: at most 16 bytes each. Not thread-safe while it grows. */
final class VersionSet {
    private long[] slots = new long[8];
    private int size;

    void add(long number) {
        if (number == 0) {
            throw new IllegalArgumentException("0 is none");
        }
        if (2 * (size + 1) > slots.length) {
            final long[] old = slots;
            slots = new long[2 * old.length];
            for (long each : old) {
                if (each != 0) {
                    slots[slotOf(each)] = each;
                }
            }
        }
        final int slot = slotOf(number);
        if (slots[slot] == 0) {
            slots[slot] = number;
            size++;
        }
    }

    boolean contains(long number) {
        return slots[slotOf(number)] == number;
    }

    private int slotOf(long number) {
        final int mask = slots.length - 1;
        int slot = (int) (number * 0x9e3779b97f4a7c15L >>> 32) & mask;
        while (slots[slot] != 0 && slots[slot] != number) {
            slot = slot + 1 & mask;
        }
        return slot;
    }
}
