package org.rowankv.server.peer;

/** Requests between servers. */
public final class PeerRequestType {
    /**
     * Of a shard: the answerer's CommitVer, and its versions above the argument and above that CommitVer, in ascending
     * order.
     */
    static final int COLLECT = 1;
    /** The entry of a shard with that version. */
    static final int FETCH = 2;
    /** Add that entry of a shard. */
    static final int TAKE = 3;
    /** The sender's shards are complete on all their replicas. */
    public static final int COLLECTED = 4;
    /** Everything that the sender added is persistent, and its space is counted. */
    public static final int READY = 5;
    /**
     * Free space, and answer when nothing more can be freed; the argument is the number of the receiver if it is the
     * one that lacks space, else −1.
     */
    static final int MAKE_ROOM = 6;
    /** The catalogue has changed: apply its limits. */
    static final int CATALOGUE = 7;
    /**
     * Destroy the objects of a cache in the answerer's primary shards; the argument is the cache id. The payload of the answer
     * has a bit for each shard in which they are destroyed.
     */
    static final int DESTROY = 8;

    /**
     * Of a shard: versions that some complete replica has and another one lacks; all other entries of the answerer are
     * on all replicas. The argument is 0 for the last part, else 1.
     */
    static final int LACKING = 9;
    /** The sender has compared its shards, and has sent the result to all their replicas. */
    public static final int COMPARED = 10;

    /**
     * A lease, from the manager; the argument and the payload are the sender's clocks and its promise. The number, here and
     * below, is how long a lease lasts for the sender.
     */
    public static final int LEASE = 11;
    /**
     * That no later term is known; of the manager, with its clocks as above, and 1 in place of the promise if it does not
     * hear the answerer.
     */
    public static final int CONFIRM = 12;
    /** Whether the manager has lately granted the answerer a lease; the argument of the answer is 1 if so. */
    public static final int HEARS_MANAGER = 13;
    /** Prepare the configuration in the payload. */
    public static final int PREPARE = 14;
    /** Take the roles of the prepared configuration, whose term is the argument. */
    public static final int COMMIT = 15;
    /** The sender's copies of the shards in the payload are complete in their epochs; to the manager, without an answer. */
    public static final int COMPLETED = 16;
    /**
     * A copy of a shard will take so many bytes at the answerer; the number is the epoch, here and below. The payload has a bit
     * for each id of a destroyed cache.
     */
    public static final int COPY_ANNOUNCED = 17;
    /** A copy of a shard has landed at the answerer. */
    public static final int COPIED = 18;

    /** A message between openings of shards, in the payload; it has no answer of this protocol. */
    public static final int OPENING = 19;

    /**
     * Give the sender's roles to others, for it is about to stop; to the manager. The argument is the term of the roles in
     * force there if it is no primary by them, else 0; that of the answer is 0 if it is to ask again, 1 if it has no roles any
     * more, 2 if others cannot take them.
     */
    public static final int LEAVE = 20;

    /**
     * The whole entries to which the index of the answerer's complete replica of a shard refers at a position, which is the
     * argument, in place of damaged ones of the sender; that of the answer counts the answerer's quiet digest cycles.
     */
    public static final int FIND = 21;

    /**
     * The versions of the sender's primary shards in the payload come to the end of their epochs; to the manager, without an
     * answer.
     */
    public static final int RENEW = 22;

    /**
     * Which of the objects of a shard in the payload the answerer has; the argument is the epoch. The payload of the answer
     * has a bit for each.
     */
    public static final int PRESENT = 23;

    private PeerRequestType() {}
}
