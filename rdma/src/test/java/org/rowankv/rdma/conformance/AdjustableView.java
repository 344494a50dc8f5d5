package org.rowankv.rdma.conformance;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.rowankv.rdma.MembershipView;

/** A configuration that a test changes by hand: it admits all servers but the excluded ones. */
public final class AdjustableView implements MembershipView {
    private final Set<Integer> excluded = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Long> announced = new ConcurrentHashMap<>();
    private final AtomicReference<Runnable> inHandshake = new AtomicReference<>();
    private volatile long startTerm = 1;
    private volatile long term = 1;

    /** After another common start, in that term. */
    public void start(long inTerm) {
        startTerm = inTerm;
        term = inTerm;
    }

    /** The roles of that later term are prepared. */
    public void prepare(long next) {
        term = next;
    }

    public void exclude(int serverId) {
        excluded.add(serverId);
    }

    public void readmit(int serverId) {
        excluded.remove(serverId);
    }

    /** Runs that in the middle of the next handshake, once: behind the decision whether it admits. */
    public void onHandshake(Runnable action) {
        inHandshake.set(action);
    }

    /** From now on that server is the process with that nonce; before it is any process. */
    public void announce(int serverId, long nonce) {
        announced.put(serverId, nonce);
    }

    @Override
    public long term() {
        return term;
    }

    @Override
    public long startTerm() {
        return startTerm;
    }

    @Override
    public boolean admits(int serverId, long incarnation, long callersTerm) {
        final boolean admitted = startTerm <= callersTerm && callersTerm <= term && !excluded.contains(serverId);
        final Runnable action = inHandshake.getAndSet(null);
        if (action != null) {
            action.run();
        }
        return admitted;
    }

    @Override
    public Standing standing(int serverId, long incarnation, long nonce) {
        final Long known = announced.get(serverId);
        return excluded.contains(serverId) || known != null && known != nonce ? Standing.REFUTED : Standing.ANNOUNCED;
    }
}
