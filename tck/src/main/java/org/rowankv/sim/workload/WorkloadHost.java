package org.rowankv.sim.workload;

import org.rowankv.protocol.Status;
import org.rowankv.sim.Happenings;
import org.rowankv.sim.Trace;

/** The simulation in which the clients of a {@link Workload} live. */
public interface WorkloadHost {
    long nowNs();

    /** A moment goes by. */
    void tick();

    Happenings happenings();

    Trace trace();

    /** A promise was broken. Throws. */
    void violation(String what);

    int shardOf(int cacheId, byte[] key);

    /** Whether the network between clients and servers delivers each attempt once, and in time. */
    boolean losesNothing();

    /** Whether an attempt may still arrive after all clients have come to rest. */
    boolean deliversAfterRest();

    /** Whether a client may see that refusal: what it asked had no effect. */
    boolean mayRefuse(Status status);
}
