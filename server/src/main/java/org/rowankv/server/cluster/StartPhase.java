package org.rowankv.server.cluster;

/** How far a server of a cluster is. */
public enum StartPhase {
    /** Waits until the cluster has its servers. */
    JOINING,
    /** Reads its area. */
    RECOVERING,
    /** Has read its area; waits for the others, or agrees with them on what everybody has. */
    STARTING,
    SERVING,
    STOPPED,
    /** Cannot go on; says why. */
    FAILED
}
