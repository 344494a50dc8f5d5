package org.rowankv.sim.cluster;

/**
 * Something that goes wrong, or is changed on purpose, once so many operations have begun.
 *
 * @param first drawn, 0..999: which server, mostly
 * @param second drawn, 0..999: how long, mostly
 */
record ClusterFault(int afterOperations, Kind kind, int first, int second) {
    /** What it is. */
    enum Kind {
        /** A process ends. */
        KILL,
        /** A process ends at a point of its next start, after it was killed. */
        KILL_IN_START,
        /** A second process ends while the servers start anew because of the first. */
        KILL_TWO,
        KILL_ALL,
        /** The machine of a process ends; of what it was to keep, it keeps what was forced. */
        POWER_CUT,
        POWER_CUT_OF_ALL,
        /** A process stops in order, and another is started. */
        STOP,
        /** A process stands still. */
        PAUSE,
        /** The primary of a shard and a backup change places, under load. */
        SWAP,
        SWAP_TWICE,
        STORE_AWAY,
        STORE_FLAKY,
        /** A link between two servers passes nothing in one direction. */
        CUT_ONE_WAY,
        CUT_BOTH_WAYS,
        SLOW,
        /** Connections break in the middle of what is on its way. */
        BREAK,
        /** They break, and neither end is told. */
        BREAK_SILENTLY,
        /** One end is told, and what it sent last is still to come. */
        BREAK_LATE,
        /** Somebody creates and destroys caches. */
        CATALOGUE,
        /** A force of a server's device throws. */
        FORCE_FAILS,
        /** Bits of a server's area flip. */
        BIT_ROT,
        /** A server's clock is set, by hours, days or years. */
        CLOCK_LEAP;

        /** Of those that are drawn apart, the first. */
        static final int FIRST_APART = FORCE_FAILS.ordinal();
    }
}
