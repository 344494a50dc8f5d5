package org.rowankv.check.history;

/** What a caller asked of one key, where values alone are told, and no versions. */
public enum ValueAction {
    GET("get", false, false),
    PUT("put", true, false),
    GET_AND_PUT("getAndPut", true, false),
    PUT_IF_ABSENT("putIfAbsent", true, false),
    /** Compare-and-set. */
    REPLACE_IF_VALUE("replace", true, true),
    REMOVE("remove", false, false),
    GET_AND_REMOVE("getAndRemove", false, false),
    REMOVE_IF_VALUE("remove if equal", false, true),
    /** An entry processor that sets the value and returns the one it found. */
    INVOKE("invoke", true, false);

    private final String label;
    private final boolean stores;
    private final boolean compares;

    ValueAction(String label, boolean stores, boolean compares) {
        this.label = label;
        this.stores = stores;
        this.compares = compares;
    }

    public String label() {
        return label;
    }

    /** Whether it leaves an object behind when it takes effect. */
    public boolean stores() {
        return stores;
    }

    /** Whether it takes effect only on an expected value. */
    public boolean compares() {
        return compares;
    }
}
