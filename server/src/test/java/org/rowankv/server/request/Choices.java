package org.rowankv.server.request;

import java.util.ArrayList;
import java.util.List;

/**
 * A walk through a tree whose nodes are discovered on the way. Every run repeats the choices of the previous run,
 * except for the last one with an untried alternative.
 */
final class Choices {
    private final List<Integer> taken = new ArrayList<>();
    private final List<Integer> alternatives = new ArrayList<>();
    private int next;

    /** One of 0 .. count − 1. */
    int choose(int count) {
        if (next == taken.size()) {
            taken.add(0);
            alternatives.add(count);
        } else if (alternatives.get(next) != count) {
            throw new AssertionError("the same choices led elsewhere: " + this);
        }
        return taken.get(next++);
    }

    /** Returns to the root for another run; false when none is left. */
    boolean nextRun() {
        next = 0;
        while (!taken.isEmpty()) {
            final int last = taken.size() - 1;
            if (taken.get(last) + 1 < alternatives.get(last)) {
                taken.set(last, taken.get(last) + 1);
                return true;
            }
            taken.remove(last);
            alternatives.remove(last);
        }
        return false;
    }

    @Override
    public String toString() {
        return taken.toString();
    }
}
