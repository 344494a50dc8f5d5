package org.rowankv.check.history;

/** What a caller asked of one key. */
public enum Action {
    GET("get"),
    PUT("put"),
    GET_AND_PUT("getAndPut"),
    PUT_IF_ABSENT("putIfAbsent"),
    /** Only if nothing is there and nothing has changed since the expected version, which a read that found nothing returned. */
    PUT_IF_ABSENT_SINCE("putIfAbsentSince"),
    REPLACE("replace"),
    REPLACE_IF_VERSION("replaceIfVersion"),
    REMOVE("remove"),
    GET_AND_REMOVE("getAndRemove"),
    REMOVE_IF_VERSION("removeIfVersion"),
    /** Of the whole cache in the key's shard: whatever was there is gone, and nobody says whether anything was. */
    CLEAR("clear"),
    /** Of the whole cache in every shard: as a clear, and nothing that follows is accepted. Its version is not known. */
    DESTROY("destroy"),
    /** Changes the lifetime of the object of the expected version, and nothing else. */
    TOUCH("touch"),
    /** Nobody's: what was written with a lifetime may be gone from some time on. Its outcome is never known. */
    EXPIRY("expiry");

    private final String label;

    Action(String label) {
        this.label = label;
    }

    public String label() {
        return label;
    }

    /** Whether the operation leaves an object behind when it takes effect. */
    public boolean stores() {
        return switch (this) {
            case PUT, GET_AND_PUT, PUT_IF_ABSENT, PUT_IF_ABSENT_SINCE, REPLACE, REPLACE_IF_VERSION -> true;
            case GET, REMOVE, GET_AND_REMOVE, REMOVE_IF_VERSION, CLEAR, DESTROY, TOUCH, EXPIRY -> false;
        };
    }

    /** Whether the operation takes an object away when it takes effect. */
    public boolean removes() {
        return this == REMOVE || this == GET_AND_REMOVE || this == REMOVE_IF_VERSION || isOfAll();
    }

    /** Whether the operation ends every object of a cache, in one shard or in all. */
    public boolean isOfAll() {
        return this == CLEAR || this == DESTROY;
    }

    /** Whether the operation gives the key a version when it takes effect. */
    public boolean makesVersion() {
        return stores() || removes();
    }

    /** Whether the operation takes effect only on an object of an expected version. */
    public boolean expectsVersion() {
        return this == REPLACE_IF_VERSION || this == REMOVE_IF_VERSION || this == TOUCH;
    }

    /** Whether the operation's caller names a version. */
    public boolean namesVersion() {
        return expectsVersion() || this == PUT_IF_ABSENT_SINCE;
    }

    /** Whether the operation takes effect only where there is nothing. */
    public boolean wantsAbsence() {
        return this == PUT_IF_ABSENT || this == PUT_IF_ABSENT_SINCE;
    }
}
