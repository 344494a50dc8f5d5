package org.rowankv.sim;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Queue of tasks: the ready ones, and the others by their ready time. Tasks report their changes ({@link #place}), so a
 * step need not poll all of them: of hundreds that wait, few are ever ready.
 */
public final class TaskQueue {
    private @Nullable Task[] ready = new @Nullable Task[64];
    private int readyCount;
    /** A binary heap by ready time. */
    private @Nullable Task[] waiting = new @Nullable Task[64];

    private int waitingCount;

    /** The task is ready from that time on; {@link Task#NEVER}: not before it reports a change. */
    public void place(Task one, long dueNs, long nowNs) {
        if (dueNs <= nowNs) {
            if (!one.isReady()) {
                remove(one);
                addReady(one);
            }
            return;
        }
        if (one.isReady() || dueNs == Task.NEVER) {
            remove(one);
        }
        if (dueNs == Task.NEVER) {
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

    private void moved(Task one, long dueNs) {
        final boolean earlier = dueNs < one.dueNs();
        one.dueNs(dueNs);
        if (earlier) {
            up(one.index(), one);
        } else {
            down(one.index(), one);
        }
    }

    /** The task is never ready. */
    public void remove(Task one) {
        final int index = one.index();
        if (index < 0) {
            return;
        }
        one.index(-1);
        if (one.isReady()) {
            one.isReady(false);
            final Task last = at(ready, --readyCount);
            ready[readyCount] = null;
            if (last != one) {
                ready[index] = last;
                last.index(index);
            }
            return;
        }
        final Task last = at(waiting, --waitingCount);
        waiting[waitingCount] = null;
        if (last != one) {
            if (last.dueNs() < one.dueNs()) {
                up(index, last);
            } else {
                down(index, last);
            }
        }
    }

    private void addReady(Task one) {
        if (readyCount == ready.length) {
            ready = Arrays.copyOf(ready, 2 * readyCount);
        }
        one.index(readyCount);
        one.isReady(true);
        ready[readyCount++] = one;
    }

    /** Makes due tasks ready. */
    public void advance(long nowNs) {
        while (earliestNs() <= nowNs) {
            final Task one = at(waiting, 0);
            remove(one);
            addReady(one);
        }
    }

    /** The earliest ready time of the waiting tasks. */
    public long earliestNs() {
        return waitingCount == 0 ? Task.NEVER : at(waiting, 0).dueNs();
    }

    public int readyCount() {
        return readyCount;
    }

    public Task ready(int index) {
        return at(ready, index);
    }

    public void clear() {
        while (readyCount > 0) {
            remove(at(ready, readyCount - 1));
        }
        while (waitingCount > 0) {
            remove(at(waiting, waitingCount - 1));
        }
    }

    private void up(int from, Task one) {
        int index = from;
        while (index > 0) {
            final int above = (index - 1) >>> 1;
            final Task parent = at(waiting, above);
            if (parent.dueNs() <= one.dueNs()) {
                break;
            }
            set(index, parent);
            index = above;
        }
        set(index, one);
    }

    private void down(int from, Task one) {
        int index = from;
        while (2 * index + 1 < waitingCount) {
            int below = 2 * index + 1;
            if (below + 1 < waitingCount
                    && at(waiting, below + 1).dueNs() < at(waiting, below).dueNs()) {
                below++;
            }
            final Task child = at(waiting, below);
            if (one.dueNs() <= child.dueNs()) {
                break;
            }
            set(index, child);
            index = below;
        }
        set(index, one);
    }

    private void set(int index, Task one) {
        waiting[index] = one;
        one.index(index);
    }

    private static Task at(@Nullable Task[] array, int index) {
        final Task one = array[index];
        assert one != null;
        return one;
    }
}
