package org.rowankv.sim.cluster;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Queue of tasks: the ready ones, and the others by their ready time. Tasks report their changes ({@link #place}), so a
 * step need not poll all of them: of hundreds that wait, few are ever ready.
 */
final class TaskQueue {
    private @Nullable SimTask[] ready = new @Nullable SimTask[64];
    private int readyCount;
    /** A binary heap by ready time. */
    private @Nullable SimTask[] waiting = new @Nullable SimTask[64];

    private int waitingCount;

    /** The task is ready from that time on; {@link SimTask#NEVER}: not before it reports a change. */
    void place(SimTask one, long dueNs, long nowNs) {
        if (dueNs <= nowNs) {
            if (!one.isReady()) {
                remove(one);
                addReady(one);
            }
            return;
        }
        if (one.isReady() || dueNs == SimTask.NEVER) {
            remove(one);
        }
        if (dueNs == SimTask.NEVER) {
            return;
        }
        if (one.index() < 0) {
            if (waitingCount == waiting.length) {
                waiting = Arrays.copyOf(waiting, 2 * waitingCount);
            }
            one.dueNs(dueNs);
            up(waitingCount++, one);
        } else {
            moved(one, dueNs);
        }
    }

    private void moved(SimTask one, long dueNs) {
        final boolean earlier = dueNs < one.dueNs();
        one.dueNs(dueNs);
        if (earlier) {
            up(one.index(), one);
        } else {
            down(one.index(), one);
        }
    }

    /** The task is never ready. */
    void remove(SimTask one) {
        final int index = one.index();
        if (index < 0) {
            return;
        }
        one.index(-1);
        if (one.isReady()) {
            one.isReady(false);
            final SimTask last = at(ready, --readyCount);
            ready[readyCount] = null;
            if (last != one) {
                ready[index] = last;
                last.index(index);
            }
            return;
        }
        final SimTask last = at(waiting, --waitingCount);
        waiting[waitingCount] = null;
        if (last != one) {
            if (last.dueNs() < one.dueNs()) {
                up(index, last);
            } else {
                down(index, last);
            }
        }
    }

    private void addReady(SimTask one) {
        if (readyCount == ready.length) {
            ready = Arrays.copyOf(ready, 2 * readyCount);
        }
        one.index(readyCount);
        one.isReady(true);
        ready[readyCount++] = one;
    }

    /** Makes due tasks ready. */
    void advance(long nowNs) {
        while (earliestNs() <= nowNs) {
            final SimTask one = at(waiting, 0);
            remove(one);
            addReady(one);
        }
    }

    /** The earliest ready time of the waiting tasks. */
    long earliestNs() {
        return waitingCount == 0 ? SimTask.NEVER : at(waiting, 0).dueNs();
    }

    int readyCount() {
        return readyCount;
    }

    SimTask ready(int index) {
        return at(ready, index);
    }

    void clear() {
        while (readyCount > 0) {
            remove(at(ready, readyCount - 1));
        }
        while (waitingCount > 0) {
            remove(at(waiting, waitingCount - 1));
        }
    }

    private void up(int from, SimTask one) {
        int index = from;
        while (index > 0) {
            final int above = (index - 1) >>> 1;
            final SimTask parent = at(waiting, above);
            if (parent.dueNs() <= one.dueNs()) {
                break;
            }
            set(index, parent);
            index = above;
        }
        set(index, one);
    }

    private void down(int from, SimTask one) {
        int index = from;
        while (2 * index + 1 < waitingCount) {
            int below = 2 * index + 1;
            if (below + 1 < waitingCount
                    && at(waiting, below + 1).dueNs() < at(waiting, below).dueNs()) {
                below++;
            }
            final SimTask child = at(waiting, below);
            if (one.dueNs() <= child.dueNs()) {
                break;
            }
            set(index, child);
            index = below;
        }
        set(index, one);
    }

    private void set(int index, SimTask one) {
        waiting[index] = one;
        one.index(index);
    }

    private static SimTask at(@Nullable SimTask[] array, int index) {
        final SimTask one = array[index];
        assert one != null;
        return one;
    }
}
