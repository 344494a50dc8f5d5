package org.rowankv.check.client;

/**
 * The keys of a run, by slot: registers, then counters, then chains. A slot holds one key at a time; after the key is
 * retired it continues with the next generation.
 */
public record Keys(int registers, int counters, int chains) {
    /** Registers per counter and chain: few counters and chains, so that callers contend for them. */
    private static final int REGISTERS_PER_CHAIN = 10;

    public enum Kind {
        /** Unrelated values. */
        REGISTER,
        /** A number incremented by entry processors. */
        COUNTER,
        /** Values each derived from its predecessor, by compare-and-set. */
        CHAIN
    }

    public static Keys of(int registers) {
        final int others = Math.max(1, registers / REGISTERS_PER_CHAIN);
        return new Keys(registers, others, others);
    }

    public int slots() {
        return registers + counters + chains;
    }

    public Kind kindOf(int slot) {
        return slot < registers ? Kind.REGISTER : slot < registers + counters ? Kind.COUNTER : Kind.CHAIN;
    }

    int firstCounter() {
        return registers;
    }

    int firstChain() {
        return registers + counters;
    }

    public static String name(int slot, int generation) {
        return "key " + slot + "." + generation;
    }
}
