package org.rowankv.bench.paper.model;

import java.util.Arrays;

/**
 * Events in the order of their times; those of one time in the order in which they were added. A binary heap. Not
 * thread-safe.
 */
public final class EventQueue {
    private long[] timesNs = new long[1024];
    private long[] sequences = new long[1024];
    private ModelEvent[] events = new ModelEvent[1024];
    private int size;
    private long sequence;
    private long nowNs;

    /** Adds an event; a time in the past is an error of the model. */
    public void at(long timeNs, ModelEvent event) {
        if (timeNs - nowNs < 0) {
            throw new IllegalArgumentException("event at " + timeNs + " ns, added at " + nowNs + " ns");
        }
        if (size == events.length) {
            timesNs = Arrays.copyOf(timesNs, 2 * size);
            sequences = Arrays.copyOf(sequences, 2 * size);
            events = Arrays.copyOf(events, 2 * size);
        }
        final long own = sequence++;
        int hole = size++;
        while (hole > 0) {
            final int parent = (hole - 1) / 2;
            if (timesNs[parent] <= timeNs) {
                break; // the parent was added before
            }
            move(parent, hole);
            hole = parent;
        }
        put(hole, timeNs, own, event);
    }

    /** Lets events happen, those of the end time among them, and stands at the end time then. */
    public void runUntil(long endNs) {
        while (size > 0 && timesNs[0] <= endNs) {
            final ModelEvent first = events[0];
            nowNs = timesNs[0];
            removeFirst();
            first.happen(nowNs);
        }
        nowNs = endNs;
    }

    private void removeFirst() {
        size--;
        final long timeNs = timesNs[size];
        final long own = sequences[size];
        final ModelEvent event = events[size];
        int hole = 0;
        while (true) {
            int child = 2 * hole + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && isBefore(child + 1, timesNs[child], sequences[child])) {
                child++;
            }
            if (!isBefore(child, timeNs, own)) {
                break;
            }
            move(child, hole);
            hole = child;
        }
        put(hole, timeNs, own, event);
    }

    private boolean isBefore(int at, long timeNs, long own) {
        return timesNs[at] < timeNs || timesNs[at] == timeNs && sequences[at] < own;
    }

    private void move(int from, int to) {
        put(to, timesNs[from], sequences[from], events[from]);
    }

    private void put(int at, long timeNs, long own, ModelEvent event) {
        timesNs[at] = timeNs;
        sequences[at] = own;
        events[at] = event;
    }
}
