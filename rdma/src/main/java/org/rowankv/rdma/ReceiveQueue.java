package org.rowankv.rdma;

/**
 * The posted segments of one endpoint, in which messages of all senders land, and their fences.
 *
 * <p>They are dealt to one or more lanes. Where the receiver's network card decides where a message lands there is one;
 * where senders do, each sending server has its own. The queue itself is its lane 0.
 */
public interface ReceiveQueue extends LandingLane {

    /** Lanes with segments; at least 1, and only growing. Each is the same sender's for as long as the endpoint is open. */
    default int lanes() {
        return 1;
    }

    /** @param number from 0 to {@link #lanes} − 1 */
    default LandingLane lane(int number) {
        return this;
    }

    /** Posted segments with space left in all, the current one included: few of them are a reason to post. */
    default long ahead() {
        return postedCount() - currentOrdinal();
    }

    /**
     * Posts a segment. It must be free and not named. The generation must not be 0, nor occur in the low half of any
     * stride's first word of the segment's old bytes, or old bytes would pass for words of this use.
     *
     * @return false if the endpoint's limit of posted segments without landings is reached
     */
    boolean post(int segment, int generation);

    /** Fences every queue pair of that server: on return none of them is landing or will land. */
    FenceReport fence(int serverId);

    FenceReport fenceAll();

    /**
     * Fences the queue pair that holds the reservation at that offset of the segment, and voids the reservation. Also
     * fences a pair that lost the race for the same slot and has not moved since. An unowned hole is voided.
     */
    FenceReport fenceHole(int segment, int offset);

    /**
     * Whether a sender, fenced or not, names the segment. Such a segment is in quarantine: neither freed nor reposted.
     * After the segment was closed and digested, false is final for appends.
     */
    boolean isNamed(int segment);
}
