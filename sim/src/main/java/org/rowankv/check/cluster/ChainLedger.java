package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.ChainChecker;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ChainLink;

/** What is known of one chain or counter at a rest: its value, and what may still take effect. For one thread. */
final class ChainLedger {
    private final ChainChecker checker = new ChainChecker();
    private final int slot;
    private final boolean isCounter;
    private ChainLink state = ChainLink.NONE;
    private List<ChainEvent> pending = List.of();

    ChainLedger(int slot, boolean isCounter) {
        this.slot = slot;
        this.isCounter = isCounter;
    }

    boolean isCounter() {
        return isCounter;
    }

    /** Operations that may still take effect. */
    int pending() {
        return pending.size();
    }

    /**
     * Judges what has happened since the last rest.
     *
     * @param read the judge's, after all events
     */
    List<Anomaly> judge(List<ChainEvent> events, ChainEvent read) {
        final ChainLink last = read.link();
        final List<ChainEvent> all = new ArrayList<>(events);
        all.add(read);
        final ChainChecker.Verdict verdict = isCounter
                ? checker.checkCounter(slot, state, pending, all, last)
                : checker.checkChain(slot, state, pending, all, last);
        state = last;
        pending = verdict.pending();
        return verdict.anomalies();
    }
}
