package org.rowankv.sim.workload;

import java.io.PrintStream;
import java.util.Locale;
import org.rowankv.check.history.KeyAction;
import org.rowankv.protocol.Condition;

/**
 * Number of times each kind of operation met each state of its key, according to the replies. The draw of operations
 * takes its weights from here, so that a run prefers rare combinations. Confined to one thread at a time.
 */
public final class Coverage {
    private static final KeyAction[] ACTIONS = KeyAction.values();
    private static final Condition[] CONDITIONS = Condition.values();
    private static final LifetimeKind[] LIFETIMES = LifetimeKind.values();
    private static final KeyState[] STATES = KeyState.values();
    /** Weight factor of combinations never met. */
    private static final int NEVER_MET = 4;

    private static final int SELDOM_MET = 2;

    private final long[] cells = new long[ACTIONS.length * CONDITIONS.length * LIFETIMES.length * STATES.length];
    /** Sum over all conditions and lifetimes. */
    private final long[] byAction = new long[ACTIONS.length * STATES.length];

    private final long[] byState = new long[STATES.length];

    private static int cell(KeyAction action, Condition condition, LifetimeKind lifetime, KeyState state) {
        return ((action.ordinal() * CONDITIONS.length + condition.ordinal()) * LIFETIMES.length + lifetime.ordinal())
                        * STATES.length
                + state.ordinal();
    }

    void count(KeyAction action, Condition condition, LifetimeKind lifetime, KeyState state) {
        cells[cell(action, condition, lifetime, state)]++;
        byAction[action.ordinal() * STATES.length + state.ordinal()]++;
        byState[state.ordinal()]++;
    }

    /**
     * The weight of an action for a key in that state, as far as its client knows.
     *
     * @param usual the weight of the action, out of {@code allUsual}
     */
    int weight(KeyAction action, KeyState state, int usual, int allUsual) {
        final long met = byAction[action.ordinal() * STATES.length + state.ordinal()];
        if (met == 0) {
            return NEVER_MET * usual;
        }
        // Met less than half as often as its weight implies.
        return 2 * met * allUsual < byState[state.ordinal()] * usual ? SELDOM_MET * usual : usual;
    }

    public void addAll(Coverage other) {
        for (int i = 0; i < cells.length; i++) {
            cells[i] += other.cells[i];
        }
        for (int i = 0; i < byAction.length; i++) {
            byAction[i] += other.byAction[i];
        }
        for (int i = 0; i < byState.length; i++) {
            byState[i] += other.byState[i];
        }
    }

    /** Prints a line for each kind of operation performed, with a column for each state. */
    public void print(PrintStream out) {
        final StringBuilder head = new StringBuilder(String.format(Locale.ROOT, "  %-46s", "operation"));
        for (KeyState state : STATES) {
            head.append(String.format(Locale.ROOT, " %11s", state.label()));
        }
        out.println(head);
        for (KeyAction action : ACTIONS) {
            for (Condition condition : CONDITIONS) {
                for (LifetimeKind lifetime : LIFETIMES) {
                    printLine(out, action, condition, lifetime);
                }
            }
        }
    }

    private void printLine(PrintStream out, KeyAction action, Condition condition, LifetimeKind lifetime) {
        final String name = action.label()
                + (condition == Condition.ALWAYS ? "" : " " + condition)
                + (lifetime == LifetimeKind.NONE ? "" : ", " + lifetime.label());
        final StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "  %-46s", name));
        long sum = 0;
        for (KeyState state : STATES) {
            final long count = cells[cell(action, condition, lifetime, state)];
            sum += count;
            line.append(count == 0 ? String.format("%12s", "-") : String.format(Locale.ROOT, " %,11d", count));
        }
        if (sum > 0) {
            out.println(line);
        }
    }
}
