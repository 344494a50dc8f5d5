package org.rowankv.server.peer;

/** What a server asks another one. */
public final class PeerRequestType {
    /** Of a shard: the highest CommitVer, and the versions held above it and the asker's, from one on. */
    static final int COLLECT = 1;
    /** The entry of a shard with that version. */
    static final int FETCH = 2;
    /** Take over that entry of a shard. */
    static final int TAKE = 3;
    /** Heard that the asker's shards are the same on all their replicas. */
    public static final int COLLECTED = 4;
    /** Heard that everything the asker took over is persistent, and its space is counted. */
    public static final int READY = 5;
    /** Make room, and answer when nothing more can be done about it; the argument is 1 for the server that lacks it. */
    static final int MAKE_ROOM = 6;
    /** Heard that the catalogue has changed, and gone by it. */
    static final int CATALOGUE = 7;
    /** Destroy the objects of a cache, whose id is the argument, in the shards that are the answerer's. */
    static final int DESTROY = 8;

    /**
     * Of a shard: versions that some complete replica has and another one lacks; what else the answerer holds, all have. The argument
     * is 0 for the last part of them, else 1.
     */
    static final int LACKING = 9;
    /** The asker has compared its shards, and has sent the result to all their replicas. */
    public static final int COMPARED = 10;

    private PeerRequestType() {}
}
