package org.rowankv.rdma;

/**
 * The posted segments of one endpoint, in which messages of all senders land sequentially, and their fences.
 *
 * <p>Segments are numbered by ordinal in posting order, from {@link #firstOrdinal} on. An ordinal is valid from its
 * post until its segment or that of a later ordinal is posted again; a reader that reads in order and frees segments
 * behind itself never uses an invalid one.
 *
 * <p>A reservation does not imply a published frame: readers must check the publication word.
 */
public interface ReceiveQueue {

    /**
     * Posts a segment. It must be free and not named. The generation must not be 0, nor occur in the low half of any
     * stride's first word of the segment's old bytes, or old bytes would pass for words of this use.
     *
     * @return false if the endpoint's limit of posted segments without landings is reached
     */
    boolean post(int segment, int generation);

    /** Ordinal of the first post since the endpoint was opened; 0 except in tests. */
    default long firstOrdinal() {
        return 0;
    }

    /** The ordinal of the next post. */
    long postedCount();

    /** Ordinal of the segment being landed in. Equal to {@link #postedCount} if it is not posted yet. */
    long currentOrdinal();

    int segmentAt(long ordinal);

    int generationAt(long ordinal);

    /** Whether the segment accepts no more reservations, and every reservation in it has its word. Monotonic. */
    boolean isClosed(long ordinal);

    /**
     * Bytes reserved in it so far: 0 for a future one. For a closed one this walks its words, so the segment must not
     * be freed yet.
     */
    int landedLimit(long ordinal);

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
