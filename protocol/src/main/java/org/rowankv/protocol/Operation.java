package org.rowankv.protocol;

/** Operation of a request. */
public enum Operation {
    /** Reads one object; with an access time-to-live it also touches it. */
    GET(false),
    /** Writes one object under a condition; can return the object it replaced. */
    PUT(true),
    /** Removes one object under a condition; can return the object it removed. */
    DELETE(true),
    /** Changes an object's remaining lifetime and nothing else: its version stays. Condition: its version. */
    TOUCH(true),
    /** Removes every object of one cache in one shard. The request names the shard, not a key. */
    CLEAR(true),
    /** Opens a session at a shard, before its first mutation there. Idempotent. */
    OPEN_SESSION(false),
    /** Closes a session at a shard; its completions are forgotten. Idempotent. */
    CLOSE_SESSION(false);

    private final boolean mutation;

    Operation(boolean mutation) {
        this.mutation = mutation;
    }

    /** Whether the operation carries a request id and is applied at most once. */
    public boolean isMutation() {
        return mutation;
    }
}
