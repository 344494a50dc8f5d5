package org.rowankv.server.frontend;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Mutations that wait for a slot of a worker context, by shard in order of arrival. The first of a shard delays those
 * behind it and no other shard. The shard that began one least recently is tried first, so none starves. Owned by the
 * loop.
 */
final class WaitingRequests {
    /** A step of a request. */
    @FunctionalInterface
    interface Steps {
        /** Returns whether the request is answered. */
        boolean step(PendingRequest request);
    }

    private final List<ArrayDeque<PendingRequest>> byShard = new ArrayList<>();
    /** Those that are not empty, in the order in which they are tried. */
    private final List<ArrayDeque<PendingRequest>> turns = new ArrayList<>();
    /** Within a step: those that go behind the others. */
    private final List<ArrayDeque<PendingRequest>> served = new ArrayList<>();

    boolean isEmpty() {
        return turns.isEmpty();
    }

    /** Behind all of its shard that have arrived before. */
    void add(PendingRequest request) {
        while (byShard.size() <= request.shard()) {
            byShard.add(new ArrayDeque<>());
        }
        final ArrayDeque<PendingRequest> queue = byShard.get(request.shard());
        if (queue.isEmpty()) {
            turns.add(queue);
        }
        queue.addLast(request);
    }

    /** Steps the first ones, until they have to wait on; adds to {@code begun} those that have a slot now. */
    void step(Steps steps, List<PendingRequest> begun) {
        int left = 0;
        for (int i = 0; i < turns.size(); i++) {
            final ArrayDeque<PendingRequest> queue = turns.get(i);
            final int before = queue.size();
            while (!queue.isEmpty() && stepFirst(queue.getFirst(), steps, begun)) {
                queue.removeFirst();
            }
            if (queue.size() == before) {
                turns.set(left++, queue);
            } else if (!queue.isEmpty()) {
                served.add(queue);
            }
        }
        while (turns.size() > left) {
            turns.remove(turns.size() - 1);
        }
        for (int i = 0; i < served.size(); i++) {
            turns.add(served.get(i));
        }
        served.clear();
    }

    /** Returns false if it has to wait on. */
    private static boolean stepFirst(PendingRequest first, Steps steps, List<PendingRequest> begun) {
        if (steps.step(first)) {
            return true;
        }
        if (first.call().awaitsWorker()) {
            return false;
        }
        begun.add(first);
        return true;
    }

    void forEach(Consumer<PendingRequest> action) {
        turns.forEach(queue -> queue.forEach(action));
    }

    void clear() {
        turns.forEach(ArrayDeque::clear);
        turns.clear();
    }
}
