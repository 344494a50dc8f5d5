package org.rowankv.server.log;

/**
 * The kind of change that a log entry records: the type field of its publication word. The codes are part of the format
 * on disk.
 */
public final class EntryType {
    /** A new value of an object. */
    public static final int PUT = 1;
    /** The end of an object: removed, expired or evicted, as the result bits say. A tombstone. */
    public static final int DELETE = 2;
    /** The unchanged object with a new expiry; carries the object's version beside its own. */
    public static final int TOUCH = 3;
    /** The end of all objects of a cache in a shard with smaller versions. A tombstone. */
    public static final int CLEAR = 4;
    /** A session may mutate this shard from here on. */
    public static final int SESSION_OPEN = 5;
    /**
     * The end of a session; its completions are forgotten. A tombstone of its opening. The value holds the ids of other
     * sessions, 8 bytes each, which end with it.
     */
    public static final int SESSION_CLOSE = 6;
    /** The remainder of a dead entry whose completion a client may still request. */
    public static final int COMPLETION = 7;
    /** Pairs (shard, CommitVer) from the shards' primary. Dead once applied. */
    public static final int COMMIT_VECTOR = 8;
    /** A part of an entry that is larger than the fabric's messages. Dead once the entry is assembled. */
    public static final int BLOCK = 9;

    private EntryType() {}

    /** Whether an entry of this type holds an object's value. */
    public static boolean holdsObject(int type) {
        return type == PUT || type == TOUCH;
    }

    /** Whether an entry of this type is found through the index by its key. */
    public static boolean isKeyed(int type) {
        return type == PUT || type == TOUCH || type == DELETE;
    }

    /** Whether an entry of this type only ends something older, and is kept until that is gone. */
    public static boolean isTombstone(int type) {
        return type == DELETE || type == CLEAR || type == SESSION_CLOSE;
    }

    public static String name(int type) {
        return switch (type) {
            case PUT -> "PUT";
            case DELETE -> "DELETE";
            case TOUCH -> "TOUCH";
            case CLEAR -> "CLEAR";
            case SESSION_OPEN -> "SESSION_OPEN";
            case SESSION_CLOSE -> "SESSION_CLOSE";
            case COMPLETION -> "COMPLETION";
            case COMMIT_VECTOR -> "COMMIT_VECTOR";
            case BLOCK -> "BLOCK";
            default -> "type " + type;
        };
    }
}
