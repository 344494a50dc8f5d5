package org.rowankv.check.client;

/**
 * The keys of a run, by slot: registers, then counters, then chains. A slot holds one key at a time; after the key was retired it
 * goes on with the next generation.
 */
public record Keys(int registers, int counters, int chains) {
    /** Registers for one counter and one chain: few, so that callers meet on them. */
    private static final int REGISTERS_PER_CHAIN = 10;

    /** What a slot's key is. */
    public enum Kind {
        /** Values that have nothing to do with each other. */
        REGISTER,
        /** A number that entry processors increment. */
        COUNTER,
        /** Values that are each made from the one before, by compare-and-set. */
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
