package org.rowankv.bench.trace;

/** Strategies of replication, by the end that places a landed entry and the log of the receiver that takes it. */
enum Placement {
    /** The receiver, in order of arrival: one log. */
    ROWAN,
    /** A worker of the receiver, in its own log. */
    RPC,
    /** The sending worker, in a log of its own. */
    RWRITE,
    /** As {@link #RWRITE}; entries of a worker for a server are collected for a while. */
    BATCH,
    /** The workers of a server share a log; each writes by a connection of its own, so arrivals are out of order. */
    SHARE,
    /** As {@link #SHARE}, by one connection: in order. */
    PEER;

    private static final int FIRST_LOG = 32;

    /** The log of a landing. */
    int log(int sender, int senderWorker, int receiverWorker) {
        return FIRST_LOG
                + switch (this) {
                    case ROWAN -> 0;
                    case RPC -> receiverWorker;
                    case RWRITE, BATCH -> sender * TraceReplay.WORKERS + senderWorker;
                    case SHARE, PEER -> sender;
                };
    }

    /** Whether the sender reserves the address. */
    boolean isPlacedBySender() {
        return this != ROWAN && this != RPC;
    }
}
