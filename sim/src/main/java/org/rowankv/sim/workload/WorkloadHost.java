package org.rowankv.sim.workload;

import java.util.function.LongConsumer;
import org.rowankv.protocol.Status;

/** Callback interface of a {@link Workload} to its simulation. */
public interface WorkloadHost {
    long nowNs();

    /** Advances simulated time by one step. */
    void tick();

    /** Returns the counter of this event. */
    LongConsumer counter(String what);

    default void count(String what) {
        counter(what).accept(1);
    }

    /** Whether the text of {@link #tell} is used. */
    boolean isRead();

    void tell(String words);

    /** Mixes a value into the trace; the same seed must repeat it. */
    void mix(long value);

    /** Reports a broken guarantee. Throws. */
    void violation(String what);

    /**
     * Reports that an acknowledged write is gone, or was replaced by a wrong one: a violation, unless a device is the
     * cause. Throws.
     */
    default void loss(boolean isWrong, String what) {
        violation(what);
    }

    int shardOf(int cacheId, byte[] key);

    /** Whether the network between clients and servers delivers each attempt once, and in time. */
    boolean losesNothing();

    /** An unreadable object was replaced or removed: a violation unless bits have flipped. */
    void requireDamage();

    /** Whether a client may get that refusal: its request had no effect. */
    boolean mayRefuse(Status status);
}
