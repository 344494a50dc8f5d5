package org.rowankv.rdma.landing.wire;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.CreditSource;

/**
 * Account of the receiver's space granted to and returned by one queue pair. Both are cumulative sums, so the next
 * report makes up for one lost with a connection. On the NIC agent's event loop only.
 *
 * <p>Only the sender knows how much of the difference its landings used. It may return through one queue pair what it
 * acquired through another, but no more than it acquired in total.
 */
public final class CreditAccount {
    private final Total total;
    private long granted;
    private long returned;

    /** The same for all queue pairs of one incarnation of a server. Thread-safe. */
    public static final class Total {
        private final AtomicLong outstanding = new AtomicLong();

        private void grant(long bytes) {
            outstanding.addAndGet(bytes);
        }

        private void release(CreditSource source, long bytes) {
            final long before = outstanding.getAndUpdate(present -> present - Math.min(bytes, present));
            final long taken = Math.min(bytes, before);
            if (taken > 0) {
                source.release(taken);
            }
        }

        /**
         * What the sender holds or has used, when it will return nothing more: later returns count nothing. Any thread.
         */
        public long takeAll() {
            return outstanding.getAndSet(0);
        }
    }

    public CreditAccount(Total total) {
        this.total = total;
    }

    public long granted() {
        return granted;
    }

    public void grant(CreditSource source, long requested) {
        final long bytes = source.acquire(requested);
        granted += bytes;
        total.grant(bytes);
    }

    /** The sender has returned so much in total. */
    public void returned(CreditSource source, long inAll) throws WireException {
        if (inAll < 0) {
            throw new WireException(WireFault.BAD_FRAME, "returns " + inAll + " bytes of credit");
        }
        if (inAll > returned) {
            total.release(source, inAll - returned);
            returned = inAll;
        }
    }

    /** Final settlement: the sender received so much and returned so much. Unreceived grants are returned too. */
    public void settle(CreditSource source, long receivedCredit, long returnedCredit) throws WireException {
        if (receivedCredit < 0 || receivedCredit > granted) {
            throw new WireException(
                    WireFault.BAD_FRAME, "received " + receivedCredit + " bytes of credit of " + granted);
        }
        total.release(source, granted - receivedCredit);
        granted = receivedCredit;
        returned(source, returnedCredit);
    }
}
