package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.ChainChecker;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.ChainLink;

/**
 * Checker state of one chain or counter between windows: its value, and the writes that may still take effect. Confined
 * to one thread.
 */
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

    /** Number of operations that may still take effect. */
    int pending() {
        return pending.size();
    }

    /**
     * Checks the operations since the last pause.
     *
     * @param read the checker's own read, after all events
     */
    List<Anomaly> check(List<ChainEvent> events, ChainEvent read) {
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
