package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.KeyAction;
import org.rowankv.sim.workload.WorkloadBias;

/**
 * The current bias of all clients. By default each client uses any key at any time. But frequent use hides bugs: the
 * next write repairs whatever is wrong with a removed object. So for a while some keys are left alone, in a deliberate
 * state.
 */
final class ClientBias implements WorkloadBias {
    private enum Phase {
        /** No bias. */
        USUAL,
        /** One client alone writes the keys of a list, and is silent from then until the phase ends. */
        LAST_WORDS,
        /** The other clients remove them, and no client writes. */
        REMOVING,
        /** No client uses them. */
        SPARING,
        /** No client starts an operation: the checkers run next. */
        OVER
    }

    private static final int UNSET = -1;

    private final EmbeddedSimulation simulation;
    private final List<Integer> keys = new ArrayList<>();
    private Phase phase = Phase.USUAL;
    private int silent = UNSET;
    private int next;
    /** Whether the last used key was in the list. */
    private boolean fromList;

    /** Operations for which the keys are left alone; 0: they are checked soon. */
    private int spared;

    private int endsAt;
    private int crashIn;
    private int avoided = UNSET;

    ClientBias(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    // --- transitions ---

    /**
     * A client writes keys with long values, and goes silent: its replies must be kept. Others remove the keys, and use
     * the other keys until the process ends.
     *
     * @param operations approximate number of their operations
     * @param points number of points after which the process ends
     */
    void lastWords(int client, List<Integer> chosen, int operations, int points) {
        if (phase != Phase.USUAL || simulation.clients().size() < 2 || chosen.isEmpty()) {
            return;
        }
        begin(Phase.LAST_WORDS, chosen, operations);
        silent = client;
        crashIn = points;
        simulation.eventCounters().count("clients that went silent");
        simulation.trace().tell("client " + client + " writes the keys " + chosen + " and goes silent");
    }

    /** Every key is removed, and remains so until the check. */
    void removeAll() {
        if (phase != Phase.USUAL) {
            return;
        }
        final List<Integer> all = new ArrayList<>();
        for (int key = 0; key < simulation.plan().keys(); key++) {
            all.add(key);
        }
        begin(Phase.REMOVING, all, 0);
        simulation.trace().tell("everything is removed");
    }

    private void begin(Phase first, List<Integer> chosen, int operations) {
        keys.clear();
        keys.addAll(chosen);
        phase = first;
        next = 0;
        spared = operations;
    }

    /** No client newly uses keys of that shard, or of none if it is negative. */
    void avoid(int shard) {
        avoided = shard;
    }

    @Override
    public void ended(int client, int begun) {
        if (phase == Phase.LAST_WORDS && client == silent && next == keys.size()) {
            phase = Phase.REMOVING;
            next = 0;
        } else if (phase == Phase.REMOVING && next == keys.size()) {
            phase = spared == 0 ? Phase.OVER : Phase.SPARING;
            endsAt = begun + spared;
        } else if (phase == Phase.SPARING && begun >= endsAt) {
            endsAt = Integer.MAX_VALUE;
            simulation.points().crashIn(crashIn);
        }
    }

    void end() {
        phase = Phase.USUAL;
        silent = UNSET;
        avoided = UNSET;
    }

    // --- effects ---

    @Override
    public boolean isUsual() {
        return phase == Phase.USUAL && avoided == UNSET;
    }

    /** Whether it is time to pause all clients and to run the checkers. */
    boolean isOver() {
        return phase == Phase.OVER;
    }

    @Override
    public boolean lets(int client) {
        return switch (phase) {
            case USUAL -> true;
            case LAST_WORDS -> client == silent && next < keys.size();
            case REMOVING, SPARING -> client != silent;
            case OVER -> false;
        };
    }

    @Override
    public int key(int drawn) {
        fromList = (phase == Phase.LAST_WORDS || phase == Phase.REMOVING) && next < keys.size();
        if (fromList) {
            return keys.get(next++);
        }
        final int count = simulation.plan().keys();
        for (int i = 0; i < count; i++) {
            final int key = (drawn + i) % count;
            if (!isLeftAlone(key)) {
                return key;
            }
        }
        return drawn; // there is no other
    }

    private boolean isLeftAlone(int key) {
        return phase == Phase.SPARING && keys.contains(key)
                || avoided != UNSET && simulation.workload().caches().shardOf(key) == avoided;
    }

    @Override
    public KeyAction action(KeyAction drawn) {
        return switch (phase) {
            case LAST_WORDS -> KeyAction.PUT;
            case REMOVING -> fromList ? KeyAction.REMOVE : KeyAction.GET;
            // A clear would remove the spared keys again.
            default -> drawn == KeyAction.CLEAR ? KeyAction.PUT : drawn;
        };
    }

    @Override
    public boolean needsLarge() {
        return phase == Phase.LAST_WORDS;
    }
}
