package org.rowankv.server.cluster;

/** Progress of a cluster server's start. */
public enum StartPhase {
    /** Waits until the cluster has its members. */
    JOINING,
    /** Reads its area. */
    RECOVERING,
    /** Waits for the other servers, or reconciles the logs with them. */
    STARTING,
    SERVING,
    STOPPED,
    /** Cannot continue; the cause is reported. */
    FAILED
}
