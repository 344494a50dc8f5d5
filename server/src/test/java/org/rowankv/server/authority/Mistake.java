package org.rowankv.server.authority;

/** Mistakes of the code around the authority's classes: the search must find what each of them breaks. */
enum Mistake {
    NONE,
    /** A server stands although it only read its name in the store. */
    STANDS_UNPREPARED,
    /** A manager forgets that a write has no known outcome. */
    FORGETS_PENDING_WRITE,
    /** Both: each of them alone is harmless. */
    STANDS_UNPREPARED_AND_FORGETS_PENDING_WRITE,
    /** The lease is checked before the request arrived. */
    CHECKS_BEFORE_ARRIVAL,
    /** A write is acknowledged while one replica lacks it. */
    ACKNOWLEDGES_ONE_SHORT,
    /** A new manager restores the roles of the term that it committed itself. */
    ROLLS_BACK,
    /** An election is not conditional on the version of the vote. */
    IGNORES_VOTE_VERSION,
    /** The next primary opens a shard while the last one has not given it up. */
    OPENS_BEFORE_HAND_OVER,
    /** A primary gives a shard up with a write under way, and acknowledges it later. */
    LEAVES_WITH_A_WRITE_BEGUN;

    boolean standsUnprepared() {
        return this == STANDS_UNPREPARED || this == STANDS_UNPREPARED_AND_FORGETS_PENDING_WRITE;
    }

    boolean forgetsPendingWrite() {
        return this == FORGETS_PENDING_WRITE || this == STANDS_UNPREPARED_AND_FORGETS_PENDING_WRITE;
    }
}
