package org.rowankv.server.embedded;

/** An object in the model. */
record ModelObject(byte[] value, long version, long expiryMs) {
    ModelObject expiringAt(long newExpiryMs) {
        return new ModelObject(value, version, newExpiryMs);
    }

    boolean isOver(long nowMs) {
        return expiryMs != Long.MAX_VALUE && nowMs >= expiryMs;
    }
}
