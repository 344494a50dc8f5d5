package org.rowankv.bench.paper.model;

import java.util.ArrayDeque;
import org.rowankv.bench.paper.memory.PersistentMemory;

/**
 * The receiving side of a network card with DDIO off: takes one-sided writes one after another, in the order in which
 * they arrive, and waits while the memory lags. Places what has no address in one sequential log.
 */
public final class NetworkCard {
    /** Address of a write that the receiver places. */
    public static final long RECEIVER_PLACES = -1;

    private static final long PS = 1_000;

    private record Write(long address, int length, ModelEvent persisted) {}

    private final EventQueue queue;
    private final PersistentMemory memory;
    private final ArrayDeque<Write> arrived = new ArrayDeque<>();
    private long next;
    private long freePs;
    private boolean waiting;

    /**
     * Makes a card.
     *
     * @param base first address of the log in which it places writes
     */
    public NetworkCard(EventQueue queue, PersistentMemory memory, long base) {
        this.queue = queue;
        this.memory = memory;
        this.next = base;
    }

    /**
     * Takes a write that arrives now; the event happens when a read behind it returns, that is, when it is persistent.
     */
    public void arrive(long nowNs, long address, int length, ModelEvent persisted) {
        arrived.add(new Write(address, length, persisted));
        if (!waiting) {
            landNext(nowNs);
        }
    }

    private void landNext(long nowNs) {
        waiting = false;
        while (!arrived.isEmpty()) {
            final long freeNs = (freePs + PS - 1) / PS;
            if (freeNs - nowNs > 0) {
                waiting = true;
                queue.at(freeNs, this::landNext);
                return;
            }
            land(nowNs, arrived.remove());
        }
    }

    private void land(long nowNs, Write write) {
        final long place = write.address == RECEIVER_PLACES ? place(write.length) : write.address;
        final long acceptedNs = memory.request(place, write.length, nowNs);
        final long takenPs = Math.max(Costs.CARD_OPERATION_PS, Costs.CARD_BYTE_PS * write.length);
        freePs = Math.max(Math.max(freePs, (nowNs - 1) * PS) + takenPs, (acceptedNs - Costs.CARD_LAG) * PS);
        queue.at(acceptedNs + Costs.FLUSH, write.persisted);
    }

    private long place(int length) {
        final long place = next;
        next += (length + Costs.PADDING - 1) / Costs.PADDING * Costs.PADDING;
        return place;
    }
}
