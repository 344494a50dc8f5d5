package org.rowankv.server.area;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The mappings of areas that this process has closed. Nothing but a collection of garbage takes one away: to unmap memory that some
 * thread still reads would end the JVM. Until then the blocks of its file stay taken, also if the file was deleted.
 *
 * <p>Thread-safe.
 */
final class ClosedMappings {
    private static final int LOOKS = 100;
    private static final long LOOK_NS = 10_000_000;

    /** Since the last collection that was asked for here. */
    private static final AtomicBoolean ANY = new AtomicBoolean();

    private ClosedMappings() {}

    /** An area in a file was closed. */
    static void closed() {
        ANY.set(true);
    }

    /**
     * Asks the JVM for one collection, if an area was closed since the last one, and waits, a second at most, until there is enough.
     *
     * @return whether there is
     */
    static boolean release(BooleanSupplier isEnough) {
        if (!ANY.getAndSet(false)) {
            return isEnough.getAsBoolean();
        }
        System.gc();
        for (int looks = 0; looks < LOOKS && !isEnough.getAsBoolean(); looks++) {
            LockSupport.parkNanos(LOOK_NS);
        }
        return isEnough.getAsBoolean();
    }
}
