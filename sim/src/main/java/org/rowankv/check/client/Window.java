package org.rowankv.check.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.check.history.ChainEvent;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueEvent;

/** The operations of all callers between two pauses, after which histories are checked. Confined to one thread. */
public final class Window {
    private final Map<Integer, List<ValueEvent>> values = new HashMap<>();
    private final Map<Integer, List<ChainEvent>> chains = new HashMap<>();
    private final List<LongCall> longCalls = new ArrayList<>();
    private final List<String> exceptions = new ArrayList<>();
    private long operations;
    private long unknown;
    private long refused;

    public void add(int slot, ValueEvent event) {
        values.computeIfAbsent(slot, unused -> new ArrayList<>()).add(event);
        count(event.outcome());
    }

    public void add(int slot, ChainEvent event) {
        chains.computeIfAbsent(slot, unused -> new ArrayList<>()).add(event);
        count(event.outcome());
    }

    public void add(LongCall call) {
        longCalls.add(call);
    }

    void addException(String text) {
        exceptions.add(text);
    }

    private void count(Outcome outcome) {
        operations++;
        unknown += outcome == Outcome.UNKNOWN ? 1 : 0;
        refused += outcome == Outcome.REFUSED ? 1 : 0;
    }

    /** The operations on the register in a slot. */
    public List<ValueEvent> values(int slot) {
        return values.getOrDefault(slot, List.of());
    }

    /** The operations on the chain or counter in a slot. */
    public List<ChainEvent> chains(int slot) {
        return chains.getOrDefault(slot, List.of());
    }

    public List<LongCall> longCalls() {
        return longCalls;
    }

    /** Exceptions that no application should see. */
    public List<String> exceptions() {
        return exceptions;
    }

    public ClientProcess.Counts counts() {
        return new ClientProcess.Counts(operations, unknown, refused);
    }
}
