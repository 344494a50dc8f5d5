package org.rowankv.protocol;

/** Outcome of a request. This is the complete table of codes; each has a caller that reacts to it. */
public enum Status {
    /** Done. For a read: the value was found. */
    OK,
    /** A read, or an operation that needs an object, found none. Nothing was written. */
    NOT_FOUND,
    /** The condition of a conditional operation did not hold. Nothing was written. */
    CONDITION_FAILED,
    /** No space for the entry on one of the replicas. Nothing was written; no version was taken. */
    FULL,
    /** The entry is larger than a segment can hold, or the catalogue than it can be. Nothing was written. */
    TOO_LARGE,
    /** The cache id is unknown or was destroyed. Nothing was written. */
    UNKNOWN_CACHE,
    /** The request's session is not open at this shard. Nothing was applied by this attempt. */
    SESSION_EXPIRED,
    /** The sender of the request has an older configuration. Nothing was applied; fetch the configuration. */
    STALE_TERM,
    /** This server is not the shard's primary, or has no lease to answer alone at present. Nothing was applied. */
    NOT_PRIMARY,
    /**
     * The transport lost the reply: the request may or may not have been applied; retry with the same request id. Of a whole
     * operation: a read had no reply within its deadline.
     */
    NO_REPLY,
    /** The deadline passed while the outcome was not known: the operation may have taken effect, at most once. */
    OUTCOME_UNKNOWN,
    /** The entry exists but its bytes do not match their checksum; it is never returned. */
    CORRUPTED,
    /** The request is malformed. Nothing was applied. */
    BAD_REQUEST,
    /** The store is closed. Nothing was applied. */
    CLOSED,
    /**
     * The shard's primary is unreachable, or did not respond to the opening of a session: the request was not sent.
     * Nothing was applied by this attempt.
     */
    UNREACHABLE,
    /**
     * The shard has nearly exhausted its epoch, and another epoch could not be stored. Nothing was written; no version
     * was taken. A retry may succeed.
     */
    NO_VERSION,
    /**
     * The object's value is in parts. A read answers with the {@link PartList}. A mutation that would return the value was not
     * applied; the answer has the list and the object's version.
     */
    IN_PARTS,
    /**
     * Of a PUT of a {@link PartList}: some parts are not there, because they were collected as orphans or cleared; nothing was
     * applied. Of a whole read: parts of the present value are missing; it is never returned.
     */
    PARTS_MISSING,
    /**
     * The shard has fewer complete replicas than its cluster demands for a mutation ({@code min-replicas}). This attempt
     * applied nothing. A retry may succeed, once a copy is complete.
     */
    UNDER_REPLICATED;

    private static final Status[] VALUES = values();

    /** Whether nothing was applied, and another server, or the same one later, may apply it. */
    public boolean isForAnother() {
        return switch (this) {
            case STALE_TERM, NOT_PRIMARY, UNREACHABLE, NO_VERSION, UNDER_REPLICATED -> true;
            default -> false;
        };
    }

    /** Whether the client has to write or read the value in parts. */
    public boolean concernsParts() {
        return this == IN_PARTS || this == TOO_LARGE;
    }

    public static Status of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw new IllegalArgumentException("unknown status code " + code);
        }
        return VALUES[code];
    }
}
