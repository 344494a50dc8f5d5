package org.rowankv.sim;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.rowankv.runtime.RandomSource;

/**
 * A fault, or a deliberate change, with its time in number of begun operations.
 *
 * @param a drawn from 0 to 999: the server, and whatever else its kind chooses
 * @param b likewise
 */
public record PlannedFault(int afterOperations, Kind kind, int a, int b) {
    private static final int DRAWN = 1000;

    /** All kinds of both forms. A form's plan draws from those that it has. */
    public enum Kind {
        // --- of both ---
        /** A process stops cleanly, and another is started; an embedded store is closed and opened. */
        STOP,
        /** A process stalls; of an embedded store, one server with its agents and the requests that it executes. */
        PAUSE,
        /** The primary of a shard and a backup exchange roles, under load. */
        TRANSFER,
        /** A link passes nothing in one direction. */
        CUT_ONE_WAY,
        SLOW,
        /** Caches are created and destroyed. */
        CATALOGUE,
        /** A force of a server's device throws. */
        FORCE_FAILS,
        /** Bits of a server's area flip, or of a checkpoint. */
        BIT_ROT,
        /** A server's clock is set, by hours, days or years. */
        CLOCK_LEAP,
        /** A process ends, and data with it: of an embedded store, those of as many servers as others can replace. */
        DISK_LOST,

        // --- of embedded stores ---
        /** The process ends at some point soon, and perhaps again while it starts, several times. */
        CRASH,
        /**
         * The process ends just after a certain point is next reached. At these points much has begun, and little is known
         * to be durable.
         */
        CRASH_BEHIND,
        /** The process ends while the store is closed: at a point, or in the middle of the last force. */
        CRASH_IN_CLOSE,
        /** A server fences another one from its backup log. */
        FENCE,
        /** The next caller stops at some point of an append, and its sender is fenced. */
        CUT_OFF,
        /** A client closes its sessions and leaves, and another one replaces it. */
        LEAVE,
        /**
         * One client alone writes many keys, so that its entries are adjacent, and then goes silent. The other clients
         * remove these keys and do not touch them again until the process ends.
         */
        LAST_WORDS,
        /**
         * No disk space is left for a server's checkpoints for a while: writes stop halfway, and old checkpoints cannot be
         * deleted.
         */
        DISK_FULL,
        /** A server's device reports forces that it has not done; a power cut reveals them. */
        DEVICE_LIES,
        /** A server's area is saved at the end of some process, and restored before some later start. */
        OLD_AREA,

        // --- of clusters ---
        KILL,
        /** A process ends at a point of its next start, after it was killed. */
        KILL_IN_START,
        /** A second process ends while the servers restart because of the first. */
        KILL_TWO,
        KILL_ALL,
        /** The machine of a process loses power; it keeps what was forced. */
        POWER_CUT,
        POWER_CUT_OF_ALL,
        TRANSFER_TWICE,
        STORE_AWAY,
        STORE_FLAKY,
        /** One server does not reach the configuration store. */
        STORE_SPLIT,
        CUT_BOTH_WAYS,
        /** Connections break in the middle of their data in flight. */
        BREAK,
        /** They break, and neither end is notified. */
        BREAK_SILENTLY,
        /** One end is notified, and its last data is still in flight. */
        BREAK_LATE,
        /** A process ends, and another is started after others may have taken over its replicas. */
        AWAY
    }

    /**
     * Draws one of a run of so many operations.
     *
     * @param kind is called between two draws: after that of its time, and before those of the rest
     */
    public static PlannedFault draw(RandomSource random, int operations, Supplier<Kind> kind) {
        return new PlannedFault(
                1 + random.nextInt(operations - 1), kind.get(), random.nextInt(DRAWN), random.nextInt(DRAWN));
    }

    /** In the order of their times. */
    public static List<PlannedFault> inOrder(List<PlannedFault> faults) {
        final List<PlannedFault> sorted = new ArrayList<>(faults);
        sorted.sort(Comparator.comparingInt(PlannedFault::afterOperations));
        return List.copyOf(sorted);
    }

    @Override
    public String toString() {
        return kind + " after " + afterOperations + " operations (" + a + ", " + b + ")";
    }
}
