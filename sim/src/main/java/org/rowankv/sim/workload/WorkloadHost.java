package org.rowankv.sim.workload;

import java.util.function.LongConsumer;
import org.rowankv.protocol.Status;

/** The simulation in which the clients of a {@link Workload} live. */
public interface WorkloadHost {
    long nowNs();

    /** A moment goes by. */
    void tick();

    /** Counts what happened, by name. */
    LongConsumer counter(String what);

    default void count(String what) {
        counter(what).accept(1);
    }

    /** Whether the words of {@link #tell} are read. */
    boolean isRead();

    void tell(String words);

    /** Something that the same seed must repeat. */
    void mix(long value);

    /** A promise was broken. Throws. */
    void violation(String what);

    /** Something acknowledged is gone, or was replaced by something wrong: a violation, but where a device is to blame. Throws. */
    default void loss(boolean isWrong, String what) {
        violation(what);
    }

    int shardOf(int cacheId, byte[] key);

    /** Whether the network between clients and servers delivers each attempt once, and in time. */
    boolean losesNothing();

    /** Something unreadable was replaced or removed: a violation unless bits have flipped. */
    void requireDamage();

    /** Whether a client may see that refusal: what it asked had no effect. */
    boolean mayRefuse(Status status);
}
