package org.rowankv.bench.paper.cluster;

import java.util.Locale;

/** Ways of replication. All but the last are those of the paper's section 6.1. */
public enum Strategy {
    /** The receiver's card places each entry behind the one before, in one backup log. */
    ROWAN("Rowan-KV"),
    /** A worker of the backup appends the entry to its own log, and replies. */
    RPC("RPC-KV"),
    /** Each worker has a backup log of its own at every other server. */
    RWRITE("RWrite-KV"),
    /** As {@link #RWRITE}, with entries for one server collected. */
    BATCH("Batch-KV"),
    /** The workers of a server share one backup log at every other server; writes arrive out of order. */
    SHARE("Share-KV"),
    /** As {@link #SHARE} on one connection, so that writes arrive in the order of their addresses. */
    LEASED("leased");

    private final String title;

    Strategy(String title) {
        this.title = title;
    }

    public String title() {
        return title;
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the sender reserves the address. */
    public boolean isPlacedBySender() {
        return this != ROWAN && this != RPC;
    }

    /** Backup logs in one server. */
    public int backupLogs(int servers, int workers) {
        return switch (this) {
            case ROWAN -> 1;
            case RPC -> workers;
            case RWRITE, BATCH -> (servers - 1) * workers;
            case SHARE, LEASED -> servers - 1;
        };
    }
}
