package org.rowankv.sim.cluster;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/** Data in flight in one direction of a connection: bytes in order, in chunks with their arrival times, and the end. */
final class Flow {
    private record Lot(byte[] bytes, long atNs) {}

    private final Deque<Lot> lots = new ArrayDeque<>();
    private long lastNs;
    private long underWay;
    private long endsAtNs = Task.NEVER;
    private long resetAtNs = Task.NEVER;
    /** Later data is lost. */
    private boolean broken;

    void carry(byte[] bytes, long atNs) {
        if (!broken) {
            lastNs = Math.max(lastNs, atNs);
            lots.addLast(new Lot(bytes, lastNs));
            underWay += bytes.length;
        }
    }

    long underWay() {
        return underWay;
    }

    /** When the next chunk arrives, or an orderly end. */
    long nextNs() {
        final Lot first = lots.peekFirst();
        return first != null ? first.atNs : endsAtNs;
    }

    /** When the loss of the other end is detected, even without a read. */
    long resetAtNs() {
        return resetAtNs;
    }

    /** The next chunk if it has arrived. */
    byte @Nullable [] arrived(long nowNs) {
        final Lot first = lots.peekFirst();
        if (first == null || first.atNs > nowNs) {
            return null;
        }
        lots.removeFirst();
        underWay -= first.bytes.length;
        return first.bytes;
    }

    /** The sender closed: nothing follows the data in flight. */
    void end(long atNs) {
        if (!broken) {
            endsAtNs = Math.max(lastNs, atNs);
            broken = true;
        }
    }

    /** The sender is cut off. Data in flight arrives, but not before that time, and the receiver is not notified. */
    void breakLate(long untilNs) {
        final Deque<Lot> before = new ArrayDeque<>(lots);
        lots.clear();
        for (Lot lot : before) {
            lots.addLast(new Lot(lot.bytes, Math.max(lot.atNs, untilNs)));
        }
        broken = true;
        endsAtNs = Task.NEVER;
    }

    /**
     * The connection is gone: only the first bytes of the data in flight arrive.
     *
     * @param kept number of these bytes
     * @param resetNs when the receiver notices; {@link Task#NEVER} if it does not
     */
    void breakAfter(long kept, long resetNs) {
        final Deque<Lot> before = new ArrayDeque<>(lots);
        lots.clear();
        underWay = 0;
        for (Lot lot : before) {
            final int part = (int) Math.min(lot.bytes.length, kept - underWay);
            if (part > 0) {
                lots.addLast(new Lot(Arrays.copyOf(lot.bytes, part), lot.atNs));
                underWay += part;
            }
        }
        broken = true;
        endsAtNs = Task.NEVER;
        resetAtNs = resetNs == Task.NEVER ? resetNs : Math.max(lastNs, resetNs);
    }
}
