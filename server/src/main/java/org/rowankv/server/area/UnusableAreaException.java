package org.rowankv.server.area;

/**
 * One area is missing, or what it holds cannot be believed. Where other servers hold complete replicas of its shards, the
 * store can do without it.
 */
public final class UnusableAreaException extends StoreOpenException {
    private static final long serialVersionUID = 1L;

    private final boolean unclean;

    public UnusableAreaException(String message) {
        this(message, false);
    }

    UnusableAreaException(String message, boolean unclean) {
        super(message);
        this.unclean = unclean;
    }

    /** Whether the area may be used with the user's consent: only its last writes are in doubt. */
    public boolean isUnclean() {
        return unclean;
    }
}
