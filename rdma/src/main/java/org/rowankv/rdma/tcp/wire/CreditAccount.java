package org.rowankv.rdma.tcp.wire;

import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;
import org.rowankv.rdma.CreditSource;

/**
 * What one queue pair has been granted of the receiver's space, and has given back. Both only grow, and are told as sums,
 * so that what was lost with a connection is made good by the next that speaks of it. On the NIC agent's event loop only.
 *
 * <p>How much of the difference was used up by what landed, only the sender knows. It may give back through one queue
 * pair what it drew through another; more than it drew in all is not taken.
 */
public final class CreditAccount {
    private final Total total;
    private long granted;
    private long returned;

    /** The same of all queue pairs of one start of a server. */
    public static final class Total {
        private long outstanding;

        private void grant(long bytes) {
            outstanding += bytes;
        }

        private void giveBack(CreditSource source, long bytes) {
            final long taken = Math.min(bytes, outstanding);
            outstanding -= taken;
            if (taken > 0) {
                source.giveBack(taken);
            }
        }
    }

    public CreditAccount(Total total) {
        this.total = total;
    }

    public long granted() {
        return granted;
    }

    public void grant(CreditSource source, long wanted) {
        final long bytes = source.draw(wanted);
        granted += bytes;
        total.grant(bytes);
    }

    /** The sender has given back so much in all. */
    public void returned(CreditSource source, long inAll) throws WireException {
        if (inAll < 0) {
            throw new WireException(WireFault.BAD_FRAME, "gives back " + inAll + " bytes of credit");
        }
        if (inAll > returned) {
            total.giveBack(source, inAll - returned);
            returned = inAll;
        }
    }

    /** The sender is through: it has heard of so much, and given back so much. What it never heard of is back too. */
    public void settle(CreditSource source, long heardOf, long givenBack) throws WireException {
        if (heardOf < 0 || heardOf > granted) {
            throw new WireException(WireFault.BAD_FRAME, "heard of " + heardOf + " bytes of credit of " + granted);
        }
        total.giveBack(source, granted - heardOf);
        granted = heardOf;
        returned(source, givenBack);
    }
}
