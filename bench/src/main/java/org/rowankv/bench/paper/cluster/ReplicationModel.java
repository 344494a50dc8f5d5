package org.rowankv.bench.paper.cluster;

/** Brings entries to backups. */
interface ReplicationModel {
    /**
     * Begins to replicate; the put is acknowledged later.
     *
     * @param nowNs time at which the worker posts
     * @return processor time of the worker
     */
    long replicate(long nowNs, Put put, ServerModel backup);
}
