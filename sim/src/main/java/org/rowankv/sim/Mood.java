package org.rowankv.sim;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.history.Action;
import org.rowankv.sim.workload.Inclination;

/**
 * What all clients are up to. As a rule each asks for any key at any time. But keys that somebody always asks for again hide
 * much: whatever is wrong with an object that was removed is put right by the next write. So for a while some keys are
 * left alone, in a state that somebody has brought about.
 */
final class Mood implements Inclination {
    private enum Phase {
        /** Each does what it likes. */
        USUAL,
        /** One client alone writes the keys of a list, and is not heard of then until the mood ends. */
        LAST_WORDS,
        /** The others remove them, and nobody writes. */
        REMOVING,
        /** Nobody asks for them. */
        SPARING,
        /** Nobody asks for anything: there is something to judge. */
        OVER
    }

    private static final int NONE = -1;

    private final Simulation simulation;
    private final List<Integer> keys = new ArrayList<>();
    private Phase phase = Phase.USUAL;
    private int silent = NONE;
    private int next;
    /** Whether the key that was asked for last was one of them. */
    private boolean fromList;

    /** Operations for which the keys are left alone; 0: they are looked at soon. */
    private int spared;

    private int endsAt;
    private int crashIn;
    private int avoided = NONE;

    Mood(Simulation simulation) {
        this.simulation = simulation;
    }

    // --- how it changes ---

    /**
     * A client writes keys, long values, and goes silent: its answers must be kept. Others remove the keys, and go on with
     * the rest of the keys until the process ends.
     *
     * @param operations for which they go on, about
     * @param points after which the process ends then
     */
    void lastWords(int client, List<Integer> chosen, int operations, int points) {
        if (phase != Phase.USUAL || simulation.turns().clients().size() < 2 || chosen.isEmpty()) {
            return;
        }
        begin(Phase.LAST_WORDS, chosen, operations);
        silent = client;
        crashIn = points;
        simulation.happenings().count("clients that went silent");
        simulation.trace().tell("client " + client + " writes the keys " + chosen + " and goes silent");
    }

    /** Every key is removed, and stays so until that was judged. */
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

    /** Keys of that shard are asked for by nobody new, or of none if it is negative. */
    void avoid(int shard) {
        avoided = shard;
    }

    /** A client has come to the end of an operation. */
    void ended(int client, int begun) {
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
        silent = NONE;
        avoided = NONE;
    }

    // --- what follows from it ---

    @Override
    public boolean isUsual() {
        return phase == Phase.USUAL && avoided == NONE;
    }

    /** Whether it is time for everybody to rest, and for the judges to look. */
    boolean isOver() {
        return phase == Phase.OVER;
    }

    /** Whether that client may begin something. */
    boolean lets(int client) {
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
                || avoided != NONE && simulation.workload().caches().shardOf(key) == avoided;
    }

    @Override
    public Action action(Action drawn) {
        return switch (phase) {
            case LAST_WORDS -> Action.PUT;
            case REMOVING -> fromList ? Action.REMOVE : Action.GET;
            // A clear would end what is left alone once more.
            default -> drawn == Action.CLEAR ? Action.PUT : drawn;
        };
    }

    @Override
    public boolean wantsLarge() {
        return phase == Phase.LAST_WORDS;
    }
}
