package org.rowankv.server.authority;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** A breadth-first search of all states of a scope. The shortest way to a violation comes out as lines. */
final class StateSearch {
    private static final int PAGE = 1 << 22;
    private static final int NOT_YET = -1;

    private final Scope scope;
    private final Mistake mistake;
    private final WorldCodec codec;
    private final List<byte[]> pages = new ArrayList<>();
    private int pageUsed = PAGE;
    /** By state: page << 22 | offset of its length and bytes. */
    private long[] places = new long[1024];

    private int[] parents = new int[1024];
    private int[] table = new int[1 << 12];
    private int states;
    private int depth;
    private long transitions;
    /** For the search of dead ends: edges by state, and whether a state serves. */
    private final boolean keepsEdges;

    private int[] edges = new int[1024];
    private int edgeCount;
    private int[] edgeStarts = new int[1024];
    private byte[] serving = new byte[1024];
    private byte[] lastTerm = new byte[1024];

    private String violation = "";
    private int violating = NOT_YET;
    private List<String> steps = List.of();

    private StateSearch(Scope scope, Mistake mistake, boolean keepsEdges) {
        this.scope = scope;
        this.mistake = mistake;
        this.keepsEdges = keepsEdges;
        this.codec = new WorldCodec(scope);
        Arrays.fill(table, NOT_YET);
    }

    /**
     * What a search found.
     *
     * @param states different ones
     * @param depth steps to the farthest one
     * @param violation empty if there is none
     * @param steps the shortest way to the violation
     * @param complete whether all states were visited
     */
    record Result(
            Scope scope,
            int states,
            int depth,
            long transitions,
            boolean complete,
            String violation,
            List<String> steps) {
        @Override
        public String toString() {
            final StringBuilder text = new StringBuilder(
                    "model: states=" + states + " depth=" + depth + " violations=" + (violation.isEmpty() ? 0 : 1)
                            + (complete || !violation.isEmpty() ? "" : " (not deeper)") + ": " + scope);
            for (int i = 0; i < steps.size(); i++) {
                text.append("\n  ").append(i + 1).append(". ").append(steps.get(i));
            }
            return violation.isEmpty()
                    ? text.toString()
                    : text.append("\n  ").append(violation).toString();
        }
    }

    /** Searches until a violation or the end. */
    static Result search(Scope scope) {
        return search(scope, Mistake.NONE, Integer.MAX_VALUE);
    }

    /** Searches until a violation, the end, or that number of steps. */
    static Result search(Scope scope, Mistake mistake, int mostSteps) {
        final StateSearch search = new StateSearch(scope, mistake, false);
        final boolean complete = search.run(mostSteps);
        return search.result(complete);
    }

    /** As {@link #search}; a state with terms left from which no way leads to a serving newest term is a violation. */
    static Result searchDeadEnds(Scope scope) {
        final StateSearch search = new StateSearch(scope, Mistake.NONE, true);
        final boolean complete = search.run(Integer.MAX_VALUE);
        if (search.violation.isEmpty()) {
            search.findDeadEnd();
        }
        return search.result(complete);
    }

    private Result result(boolean complete) {
        return new Result(scope, states, depth, transitions, complete, violation, steps);
    }

    private boolean run(int mostSteps) {
        add(Steps.first(scope), NOT_YET, null);
        int endOfLevel = 1;
        for (int current = 0; current < states && violation.isEmpty(); current++) {
            if (current == endOfLevel) {
                depth++;
                endOfLevel = states;
            }
            if (depth == mostSteps) {
                return false;
            }
            final int parent = current;
            if (keepsEdges) {
                edgeStarts[current] = edgeCount;
            }
            final World world = codec.decode(bytes(current));
            new Steps(scope, mistake, (next, label, wrong) -> {
                        transitions++;
                        add(next, parent, wrong);
                    })
                    .from(world);
        }
        if (violating != NOT_YET) {
            steps = stepsTo(violating);
            depth = steps.size();
        }
        return violation.isEmpty();
    }

    private void add(World world, int parent, String wrong) {
        final byte[] bytes = codec.encode(world);
        int at = hash(bytes) & table.length - 1;
        while (table[at] != NOT_YET && !isAt(table[at], bytes)) {
            at = at + 1 & table.length - 1;
        }
        int state = table[at];
        final boolean isNew = state == NOT_YET;
        if (isNew) {
            state = states++;
            table[at] = state;
            keep(state, bytes, parent);
            if (keepsEdges) {
                serving[state] = (byte) (world.serves() ? 1 : 0);
                lastTerm[state] = (byte) (world.hasTermsLeft() ? 0 : 1);
            }
            if (states * 2 > table.length) {
                grow();
            }
        }
        if (keepsEdges && parent != NOT_YET) {
            if (edgeCount == edges.length) {
                edges = Arrays.copyOf(edges, edgeCount + (edgeCount >> 1));
            }
            edges[edgeCount++] = state;
        }
        final String broken = wrong != null || !isNew ? wrong : world.violation();
        if (broken != null && violating == NOT_YET) {
            violation = broken;
            violating = state;
            if (wrong != null) {
                // The way there must end with the step that broke something, whatever else leads to that state.
                parents[state] = parent;
            }
        }
    }

    private void keep(int state, byte[] bytes, int parent) {
        if (pageUsed + bytes.length + 1 > PAGE) {
            pages.add(new byte[PAGE]);
            pageUsed = 0;
        }
        if (state == places.length) {
            final int more = state + (state >> 1);
            places = Arrays.copyOf(places, more);
            parents = Arrays.copyOf(parents, more);
            if (keepsEdges) {
                edgeStarts = Arrays.copyOf(edgeStarts, more + 1);
                serving = Arrays.copyOf(serving, more);
                lastTerm = Arrays.copyOf(lastTerm, more);
            }
        }
        final byte[] page = pages.get(pages.size() - 1);
        places[state] = (long) (pages.size() - 1) << 22 | pageUsed;
        parents[state] = parent;
        page[pageUsed++] = (byte) bytes.length;
        System.arraycopy(bytes, 0, page, pageUsed, bytes.length);
        pageUsed += bytes.length;
    }

    private byte[] bytes(int state) {
        final byte[] page = pages.get((int) (places[state] >> 22));
        final int offset = (int) places[state] & PAGE - 1;
        return Arrays.copyOfRange(page, offset + 1, offset + 1 + (page[offset] & 0xFF));
    }

    private boolean isAt(int state, byte[] bytes) {
        final byte[] page = pages.get((int) (places[state] >> 22));
        final int offset = (int) places[state] & PAGE - 1;
        return (page[offset] & 0xFF) == bytes.length
                && Arrays.equals(page, offset + 1, offset + 1 + bytes.length, bytes, 0, bytes.length);
    }

    private static int hash(byte[] bytes) {
        long hash = 1469598103934665603L;
        for (byte each : bytes) {
            hash = (hash ^ each) * 1099511628211L;
        }
        return (int) (hash ^ hash >>> 29);
    }

    private void grow() {
        final int[] larger = new int[table.length * 2];
        Arrays.fill(larger, NOT_YET);
        for (int state = 0; state < states; state++) {
            int at = hash(bytes(state)) & larger.length - 1;
            while (larger[at] != NOT_YET) {
                at = at + 1 & larger.length - 1;
            }
            larger[at] = state;
        }
        table = larger;
    }

    /** The labels of the steps to a state; each is found by expanding its parent again. */
    private List<String> stepsTo(int state) {
        final Deque<Integer> way = new ArrayDeque<>();
        for (int each = state; each != NOT_YET; each = parents[each]) {
            way.push(each);
        }
        final List<String> labels = new ArrayList<>();
        int parent = way.pop();
        while (!way.isEmpty()) {
            final byte[] wanted = bytes(way.peek());
            final boolean last = way.size() == 1;
            final List<String> found = new ArrayList<>();
            new Steps(scope, mistake, (next, label, wrong) -> {
                        if (Arrays.equals(codec.encode(next), wanted)) {
                            // With the step that broke something first, if there is one.
                            found.add(last && wrong != null ? 0 : found.size(), label.get());
                        }
                    })
                    .from(codec.decode(bytes(parent)));
            labels.add(found.isEmpty() ? "?" : found.get(0));
            parent = way.pop();
        }
        return labels;
    }

    private void findDeadEnd() {
        edgeStarts[states] = edgeCount;
        final boolean[] live = new boolean[states];
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int state = states - 1; state >= 0; state--) {
                if (!live[state]) {
                    boolean leads = serving[state] == 1;
                    for (int edge = edgeStarts[state]; edge < edgeStarts[state + 1] && !leads; edge++) {
                        leads = live[edges[edge]];
                    }
                    live[state] = leads;
                    changed |= leads;
                }
            }
        }
        for (int state = 0; state < states; state++) {
            if (!live[state] && lastTerm[state] == 0) {
                violation = "no way leads from here to a server that serves in the newest term";
                violating = state;
                steps = stepsTo(state);
                return;
            }
        }
    }
}
