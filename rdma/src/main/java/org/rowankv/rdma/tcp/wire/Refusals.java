package org.rowankv.rdma.tcp.wire;

import org.rowankv.rdma.FabricException;
import org.rowankv.rdma.FabricException.Reason;

/** The status of a welcome, and the reason of the exception that it becomes at the caller. */
public final class Refusals {
    public static final int ACCEPTED = 0;

    private Refusals() {}

    public static int statusOf(Reason reason) {
        return switch (reason) {
            case UNKNOWN_PEER -> 1;
            case OTHER_INCARNATION -> 2;
            case STALE_TERM -> 3;
            case NOT_ADMITTED -> 4;
            case OTHER_CLUSTER -> 5;
            case CLOSED -> 6;
            case OTHER_VERSION -> 7;
            case UNPROVEN -> 8;
        };
    }

    /** A status that is not known, of a newer version, is a refusal too. */
    public static Reason reasonOf(int status) {
        return switch (status) {
            case 1 -> Reason.UNKNOWN_PEER;
            case 2 -> Reason.OTHER_INCARNATION;
            case 3 -> Reason.STALE_TERM;
            case 5 -> Reason.OTHER_CLUSTER;
            case 6 -> Reason.CLOSED;
            case 7 -> Reason.OTHER_VERSION;
            case 8 -> Reason.UNPROVEN;
            default -> Reason.NOT_ADMITTED;
        };
    }

    public static FabricException refusal(Reason reason, int remoteServerId, String why) {
        return new FabricException(reason, "no connection to server " + remoteServerId + ": " + why);
    }
}
