package org.rowankv.rdma.channel;

import org.rowankv.rdma.verbs.VerbsException;

/**
 * One end's account of the slots of both directions. Invariant: {@code 0 ≤ sent − freedThere ≤ slots}, so a SEND always
 * meets a posted receive.
 *
 * <p>The last slot is kept for a SEND without bytes, which reports what was freed here. Such a SEND is due when half of
 * the slots are unreported; its own slot is free at once, at any reader. So neither end waits for the other for ever:
 * after a report at most half of the slots count as taken, and the end that sends bytes confirms the report's slot with
 * them. Sums are modulo 2^32, since the beginning.
 *
 * <p>Used by one thread.
 */
final class SlotAccount {
    private final int slots;
    private int sent;
    private int freedThere;
    private int freedHere;
    private int reported;

    /** @param slots of each direction, at least 4 */
    SlotAccount(int slots) {
        this.slots = slots;
    }

    private int taken() {
        return sent - freedThere;
    }

    boolean maySendBytes() {
        return slots - taken() > 1;
    }

    boolean maySendReport() {
        return slots - taken() > 0;
    }

    /** Whether a report is due even if there is nothing else to send. */
    boolean owesReport() {
        return freedHere - reported >= slots / 2;
    }

    /** Counts a SEND; returns the sum that it reports. */
    int send() {
        assert taken() < slots : "a SEND without a slot";
        sent++;
        reported = freedHere;
        return freedHere;
    }

    /** A slot of this end was posted again. */
    void freed() {
        freedHere++;
    }

    /** The other end has reported that sum. */
    void onReport(int sum) throws VerbsException {
        final int more = sum - freedThere;
        if (more < 0 || more > taken()) {
            throw new VerbsException("it reports " + more + " slots free, and has " + taken());
        }
        freedThere = sum;
    }
}
