package org.rowankv.rdma;

/**
 * Posted segments in which messages land one after the other. What lands in one lane is in no order with what lands in
 * another.
 *
 * <p>Segments are numbered by ordinal in posting order, from {@link #firstOrdinal} on. An ordinal is valid from its
 * post until its segment or that of a later ordinal is posted again; a reader that reads in order and frees segments
 * behind itself never uses an invalid one.
 *
 * <p>A reservation does not imply a published frame: readers must check the publication word. For any thread.
 */
public interface LandingLane {

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
     * Bytes reserved in it so far: 0 for a future one. For a closed one this may walk its words, so the segment must not
     * be freed yet.
     */
    int landedLimit(long ordinal);
}
