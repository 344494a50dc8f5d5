package org.rowankv.rdma;

/** A set-up step of a fabric was refused or failed. Never thrown on the data path. */
public final class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why, for the caller to react to. */
    public enum Reason {
        /** No endpoint of that server can be reached: wait and try again. */
        UNKNOWN_PEER,
        /** That server is another start than the one named: fetch the configuration. */
        OTHER_INCARNATION,
        /** One of both ends has adopted a higher term: fetch the configuration. */
        STALE_TERM,
        /** The configuration of one of both ends does not have the other in this role. */
        NOT_ADMITTED,
        /** The servers belong to different clusters: a mistake of whoever configured them. */
        OTHER_CLUSTER,
        /** The servers speak different versions of the protocol: one of them has to be upgraded. */
        OTHER_VERSION,
        /** One end did not prove that it holds the other's secret: a mistake in the configuration, or an impostor. */
        UNPROVEN,
        /** This incarnation is open already, or this end is closed. */
        CLOSED
    }

    private final Reason reason;

    public FabricException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
