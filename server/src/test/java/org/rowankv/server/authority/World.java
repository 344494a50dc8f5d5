package org.rowankv.server.authority;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.authority.ModelServer.Stored;

/** One state of the model: servers, the store, clocks, one shard, one write. */
final class World {
    static final int NO_WRITER = -1;
    /** Where clocks stand in a decoded state: only ages and differences are part of it. */
    static final int PRESENT = 1000;
    /** Longer ago than any wait. */
    static final ClockReading LONG_AGO = new ClockReading(0, 0);

    final Scope scope;
    /** The configurations stored, by term − 1. */
    List<Stored> history = new ArrayList<>();

    final ModelServer[] servers;
    final int[] clocks;
    /** The version of the vote's node. */
    int votes = 10;

    int crashes;
    /** A bit for each term whose manager has found its waits over: COMMIT is under way for ever. */
    int committable;

    int writer = NO_WRITER;
    /** The process and the term of the writer. */
    int writerIncarnation;

    int writerEpoch;
    /** A bit for each server on which the write has landed. */
    int landed;
    /** The value is acknowledged, or was visible: no later read may miss it. */
    boolean known;

    World(Scope scope) {
        this.scope = scope;
        this.servers = new ModelServer[scope.servers()];
        this.clocks = new int[scope.servers()];
    }

    /** A copy that shares its servers until {@link #change}. */
    World copy() {
        final World copy = new World(scope);
        copy.history = history;
        System.arraycopy(servers, 0, copy.servers, 0, servers.length);
        System.arraycopy(clocks, 0, copy.clocks, 0, clocks.length);
        copy.votes = votes;
        copy.crashes = crashes;
        copy.committable = committable;
        copy.writer = writer;
        copy.writerIncarnation = writerIncarnation;
        copy.writerEpoch = writerEpoch;
        copy.landed = landed;
        copy.known = known;
        return copy;
    }

    ModelServer change(int slot) {
        servers[slot] = servers[slot].copy();
        return servers[slot];
    }

    void store(Stored next) {
        history = new ArrayList<>(history);
        history.add(next);
    }

    Stored stored() {
        return history.get(history.size() - 1);
    }

    Stored stored(long term) {
        return history.get((int) term - 1);
    }

    int term() {
        return history.size();
    }

    /** The first term in which the shard had the primary and the replicas of that one. */
    int beginOfEpoch(int term) {
        int first = term;
        while (first > 1 && stored(first - 1).isSameEpoch(stored(term))) {
            first--;
        }
        return first;
    }

    boolean hasTermsLeft() {
        return term() < scope.terms();
    }

    /** The wall clock stands still: leases then follow the monotonic one, as they do without a jump. */
    ClockReading now(int slot) {
        return new ClockReading(clocks[slot], 0);
    }

    /** Whether it may answer a read in this moment. */
    boolean mayAnswer(int slot) {
        final ModelServer server = servers[slot];
        return server.up && server.role.isOpen() && server.authority.mayAnswer(now(slot));
    }

    /** What it answers: a write of its own is visible once it is acknowledged. */
    int answer(int slot) {
        final ModelServer server = servers[slot];
        final boolean own = writer == slot && server.epoch == writerEpoch && !known;
        return own ? 0 : server.value;
    }

    /** Whether a server serves in the newest term. */
    boolean serves() {
        for (int slot = 0; slot < servers.length; slot++) {
            if (servers[slot].authority.committed() == term() && mayAnswer(slot)) {
                return true;
            }
        }
        return false;
    }

    /** What must never be; null if all is well. */
    String violation() {
        int answering = -1;
        for (int slot = 0; slot < servers.length; slot++) {
            if (mayAnswer(slot)) {
                if (answering >= 0) {
                    return "servers " + answering + " and " + slot + " may both answer reads";
                }
                if (known && answer(slot) == 0) {
                    return "server " + slot + " may answer the value before, which is known to be overwritten";
                }
                answering = slot;
            }
        }
        for (int slot = 0; known && slot < servers.length; slot++) {
            if (stored().shard().isComplete(slot) && servers[slot].value == 0) {
                return "the complete replica of server " + slot + " lacks the acknowledged value";
            }
        }
        return null;
    }
}
