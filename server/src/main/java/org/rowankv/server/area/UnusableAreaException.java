package org.rowankv.server.area;

/**
 * One area is missing, or its content is unreliable. Where other servers hold complete replicas of its shards, the
 * store can work without it.
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

    /** Whether the area may be used with the user's override: only its last writes are in doubt. */
    public boolean isUnclean() {
        return unclean;
    }
}
