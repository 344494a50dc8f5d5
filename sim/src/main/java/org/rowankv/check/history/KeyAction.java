package org.rowankv.check.history;

/** An operation of a caller on one key. */
public enum KeyAction {
    GET("get"),
    PUT("put"),
    GET_AND_PUT("getAndPut"),
    PUT_IF_ABSENT("putIfAbsent"),
    /**
     * Succeeds only if there is no object and nothing has changed since the expected version. A read without a result
     * returned that version.
     */
    PUT_IF_ABSENT_SINCE("putIfAbsentSince"),
    REPLACE("replace"),
    REPLACE_IF_VERSION("replaceIfVersion"),
    REMOVE("remove"),
    GET_AND_REMOVE("getAndRemove"),
    REMOVE_IF_VERSION("removeIfVersion"),
    /**
     * Affects the whole cache in the key's shard: all objects are removed, and the reply does not say whether there
     * were any.
     */
    CLEAR("clear"),
    /**
     * Affects the whole cache in every shard: as a clear, and all later operations are refused. Its version is unknown.
     */
    DESTROY("destroy"),
    /** Changes the lifetime of the object of the expected version, and nothing else. */
    TOUCH("touch"),
    /**
     * Not called by anyone: an object written with a lifetime may be gone from some time on. Its outcome is always
     * unknown.
     */
    EXPIRY("expiry");

    private final String label;

    KeyAction(String label) {
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

    /** Whether the operation removes an object when it takes effect. */
    public boolean removes() {
        return this == REMOVE || this == GET_AND_REMOVE || this == REMOVE_IF_VERSION || isOfAll();
    }

    /** Whether the operation removes every object of a cache, in one shard or in all. */
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

    /** Whether the operation has a version as its argument. */
    public boolean namesVersion() {
        return expectsVersion() || this == PUT_IF_ABSENT_SINCE;
    }

    /** Whether the operation takes effect only where there is no object. */
    public boolean requiresAbsence() {
        return this == PUT_IF_ABSENT || this == PUT_IF_ABSENT_SINCE;
    }
}
