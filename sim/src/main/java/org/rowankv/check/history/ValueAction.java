package org.rowankv.check.history;

/** An operation of a caller on one key, in an API with values and without versions. */
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
    /** An entry processor that sets the value and returns the former one. */
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
