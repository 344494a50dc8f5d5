package org.rowankv.server.membership;

/** A server cannot take part in its cluster, and waiting does not help; the message states cause and remedy. */
public final class ClusterException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ClusterException(String message) {
        super(message);
    }
}
