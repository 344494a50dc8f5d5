package org.rowankv.rdma;

/** A set-up step of a fabric was refused or failed. Never thrown on the data path. */
public final class FabricException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The reason, which determines the caller's reaction. */
    public enum Reason {
        /** No endpoint of that server is reachable: wait and retry. */
        UNKNOWN_PEER,
        /** The server runs another incarnation than the requested one: fetch the configuration. */
        OTHER_INCARNATION,
        /** All servers have started anew since that term: fetch the configuration. */
        STALE_TERM,
        /** The configuration of one end does not contain the other in this role. */
        NOT_ADMITTED,
        /** The servers belong to different clusters: a configuration error. */
        OTHER_CLUSTER,
        /** The servers use different protocol versions: upgrade one of them. */
        OTHER_VERSION,
        /** One end did not prove possession of the shared secret: a configuration error, or an impostor. */
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
