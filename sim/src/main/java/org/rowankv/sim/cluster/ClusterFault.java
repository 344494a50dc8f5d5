package org.rowankv.sim.cluster;

/**
 * A fault, or a deliberate change, with its time in number of begun operations.
 *
 * @param first drawn, 0..999: mostly the server
 * @param second drawn, 0..999: mostly the duration
 */
record ClusterFault(int afterOperations, Kind kind, int first, int second) {
    enum Kind {
        KILL,
        /** A process ends at a point of its next start, after it was killed. */
        KILL_IN_START,
        /** A second process ends while the servers restart because of the first. */
        KILL_TWO,
        KILL_ALL,
        /** The machine of a process loses power; it keeps what was forced. */
        POWER_CUT,
        POWER_CUT_OF_ALL,
        /** A process stops cleanly, and another is started. */
        STOP,
        /** A process stalls. */
        PAUSE,
        /** The primary of a shard and a backup exchange roles, under load. */
        TRANSFER,
        TRANSFER_TWICE,
        STORE_AWAY,
        STORE_FLAKY,
        /** A link between two servers passes nothing in one direction. */
        CUT_ONE_WAY,
        CUT_BOTH_WAYS,
        SLOW,
        /** Connections break in the middle of their data in flight. */
        BREAK,
        /** They break, and neither end is notified. */
        BREAK_SILENTLY,
        /** One end is notified, and its last data is still in flight. */
        BREAK_LATE,
        /** Caches are created and destroyed. */
        CATALOGUE,
        /** A force of a server's device throws. */
        FORCE_FAILS,
        /** Bits of a server's area flip. */
        BIT_ROT,
        /** A server's clock is set, by hours, days or years. */
        CLOCK_LEAP,
        /** A process ends, and its data with it; another is started with an empty directory. */
        DISK_LOST,
        /** A process ends, and another is started after others may have taken over its replicas. */
        AWAY,
        /** One server does not reach the configuration store. */
        STORE_SPLIT;

        /** First of the kinds that are drawn separately. */
        static final int FIRST_APART = FORCE_FAILS.ordinal();
    }
}
