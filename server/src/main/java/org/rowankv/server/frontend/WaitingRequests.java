package org.rowankv.server.frontend;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Mutations that wait for a slot of a worker context. Each delays those behind it; one that waits because a backup has
 * its share of the slots delays only those that wait for the same backup. Owned by the loop.
 */
final class WaitingRequests {
    /** A step of a request. */
    @FunctionalInterface
    interface Steps {
        /** Returns whether the request is answered. */
        boolean step(PendingRequest request);
    }

    /** In order of arrival. */
    private final ArrayDeque<PendingRequest> arrived = new ArrayDeque<>();
    /** By backup, in order of arrival. */
    private final List<ArrayDeque<PendingRequest>> byBackup = new ArrayList<>();

    private int ofBackups;

    boolean isEmpty() {
        return arrived.isEmpty() && ofBackups == 0;
    }

    /** Behind all that have arrived before. */
    void add(PendingRequest request) {
        arrived.addLast(request);
    }

    /** Steps the first ones, until they have to wait on; adds to {@code begun} those that have a slot now. */
    void step(Steps steps, List<PendingRequest> begun) {
        for (int backup = 0; ofBackups > 0 && backup < byBackup.size(); backup++) {
            final ArrayDeque<PendingRequest> queue = byBackup.get(backup);
            while (!queue.isEmpty() && stepFirst(queue, backup, steps, begun)) {
                queue.pollFirst();
                ofBackups--;
            }
        }
        while (!arrived.isEmpty() && stepFirst(arrived, -1, steps, begun)) {
            arrived.pollFirst();
        }
    }

    /** Returns false if it waits where it is. */
    private boolean stepFirst(ArrayDeque<PendingRequest> queue, int backup, Steps steps, List<PendingRequest> begun) {
        final PendingRequest first = queue.getFirst();
        if (steps.step(first)) {
            return true;
        }
        if (!first.call().awaitsWorker()) {
            begun.add(first);
            return true;
        }
        final int awaited = first.call().awaitedBackup();
        if (awaited < 0 || awaited == backup) {
            return false;
        }
        while (byBackup.size() <= awaited) {
            byBackup.add(new ArrayDeque<>());
        }
        byBackup.get(awaited).addLast(first);
        ofBackups++;
        return true;
    }

    void forEach(Consumer<PendingRequest> action) {
        byBackup.forEach(queue -> queue.forEach(action));
        arrived.forEach(action);
    }

    void clear() {
        byBackup.forEach(ArrayDeque::clear);
        ofBackups = 0;
        arrived.clear();
    }
}
