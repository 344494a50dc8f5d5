package org.rowankv.rdma;

/**
 * The posted segments of one endpoint, in which messages of all senders land one after the other, and the fences around
 * them.
 *
 * <p>Segments are numbered by ordinal in the order they are posted, from {@link #firstOrdinal} on. An ordinal may be asked about from its
 * post until its segment or that of a later ordinal is posted again; who reads in order and frees behind himself never
 * asks later.
 *
 * <p>Not promised: that a frame is published because the space was reserved. Who reads frames asks the publication
 * word.
 */
public interface ReceiveQueue {

    /**
     * Posts a segment. It must be free and not named. The generation must not be 0 and must not stand in the low half
     * of any stride's first word of the segment's old bytes, or old bytes would pass for a word of this use.
     *
     * @return false if as many segments as the endpoint allows are posted and not landed in
     */
    boolean post(int segment, int generation);

    /** Ordinal of the first post since the endpoint was opened; 0 but in tests. */
    default long firstOrdinal() {
        return 0;
    }

    /** The ordinal of the next post. */
    long postedCount();

    /** Ordinal of the segment being landed in. Equal to {@link #postedCount} when it is not posted yet. */
    long currentOrdinal();

    int segmentAt(long ordinal);

    int generationAt(long ordinal);

    /** Nothing more will be reserved in it, and every reservation made in it has its word. Never true before that. */
    boolean isClosed(long ordinal);

    /**
     * Bytes reserved so far in it: 0 for one to come. For a closed one this walks its words, and must not be asked once
     * the segment was freed.
     */
    int landedLimit(long ordinal);

    /** Cuts off every queue pair of that server: when it returns nothing of them is landing or will land. */
    FenceReport fence(int serverId);

    FenceReport fenceAll();

    /**
     * Cuts off the queue pair that holds the reservation at that offset of the segment, and voids the reservation. A
     * pair that lost the race for the same place and has not moved since is cut off with it. An unowned hole is
     * voided.
     */
    FenceReport fenceHole(int segment, int offset);

    /**
     * Whether some sender, fenced or not, says it may be touching the segment. Such a segment is in quarantine: neither
     * freed nor reposted. Asked after the segment was closed and its entries digested, false is final for appends.
     */
    boolean isNamed(int segment);
}
