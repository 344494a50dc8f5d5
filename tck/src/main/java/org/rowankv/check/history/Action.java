package org.rowankv.check.history;

/** What a caller asked of one key. */
public enum Action {
    GET("get"),
    PUT("put"),
    GET_AND_PUT("getAndPut"),
    PUT_IF_ABSENT("putIfAbsent"),
    REPLACE_IF_VERSION("replaceIfVersion"),
    REMOVE("remove"),
    GET_AND_REMOVE("getAndRemove"),
    REMOVE_IF_VERSION("removeIfVersion"),
    /** Of the whole cache in the key's shard: whatever was there is gone, and nobody says whether anything was. */
    CLEAR("clear"),
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
        return this == PUT || this == GET_AND_PUT || this == PUT_IF_ABSENT || this == REPLACE_IF_VERSION;
    }

    /** Whether the operation takes an object away when it takes effect. */
    public boolean removes() {
        return this == REMOVE || this == GET_AND_REMOVE || this == REMOVE_IF_VERSION || this == CLEAR;
    }

    /** Whether the operation gives the key a version when it takes effect. */
    public boolean makesVersion() {
        return stores() || removes();
    }

    /** Whether the operation takes effect only at an expected version. */
    public boolean expectsVersion() {
        return this == REPLACE_IF_VERSION || this == REMOVE_IF_VERSION || this == TOUCH;
    }
}
