package org.rowankv.server.area;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The mappings of areas that this process has closed. Only garbage collection removes one: unmapping memory that some
 * thread still reads would crash the JVM. Until then the blocks of its file stay allocated, even if the file was
 * deleted.
 *
 * <p>Thread-safe.
 */
final class ClosedMappings {
    private static final int LOOKS = 100;
    private static final long LOOK_NS = 10_000_000;

    /** An area was closed since the last collection requested here. */
    private static final AtomicBoolean ANY = new AtomicBoolean();

    private ClosedMappings() {}

    /** An area in a file was closed. */
    static void closed() {
        ANY.set(true);
    }

    /**
     * Requests one garbage collection if an area was closed since the last one. Then waits, at most a second, until
     * there is enough space.
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
