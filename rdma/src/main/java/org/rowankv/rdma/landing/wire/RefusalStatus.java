package org.rowankv.rdma.landing.wire;

import org.rowankv.protocol.frame.HandshakeDescriptor;
import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;

/** Status of a refusal, and the reason of the resulting exception. */
public final class RefusalStatus {
    private RefusalStatus() {}

    public static int statusOf(Reason reason) {
        return switch (reason) {
            case OTHER_VERSION -> HandshakeDescriptor.REFUSED_VERSION;
            case OTHER_CLUSTER -> HandshakeDescriptor.REFUSED_CLUSTER;
            case CLOSED -> HandshakeDescriptor.REFUSED_CLOSED;
            case UNKNOWN_PEER -> HandshakeDescriptor.FIRST_OF_PORT;
            case OTHER_INCARNATION -> HandshakeDescriptor.FIRST_OF_PORT + 1;
            case STALE_TERM -> HandshakeDescriptor.FIRST_OF_PORT + 2;
            case NOT_ADMITTED -> HandshakeDescriptor.FIRST_OF_PORT + 3;
            case UNPROVEN -> HandshakeDescriptor.FIRST_OF_PORT + 4;
        };
    }

    /** An unknown status, of a newer version, is a refusal too. */
    public static Reason reasonOf(int status) {
        for (Reason reason : Reason.values()) {
            if (statusOf(reason) == status) {
                return reason;
            }
        }
        return status == HandshakeDescriptor.REFUSED_PORT ? Reason.UNKNOWN_PEER : Reason.NOT_ADMITTED;
    }

    public static FabricException refusal(Reason reason, int remoteServerId, String why) {
        return new FabricException(reason, "no connection to server " + remoteServerId + ": " + why);
    }
}
