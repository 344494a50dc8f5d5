package org.rowankv.sim.cluster;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Queue of tasks: the ready ones, and the others by their ready time. Tasks report their changes ({@link #place}), so a
 * step need not poll all of them: of hundreds that wait, few are ever ready.
 */
final class TurnQueue {
    private @Nullable Turned[] ready = new @Nullable Turned[64];
    private int readyCount;
    /** A binary heap by ready time. */
    private @Nullable Turned[] waiting = new @Nullable Turned[64];

    private int waitingCount;

    /** The task is ready from that time on; {@link Turned#NEVER}: not before it reports a change. */
    void place(Turned one, long dueNs, long nowNs) {
        if (dueNs <= nowNs) {
            if (!one.isReady()) {
                remove(one);
                addReady(one);
            }
            return;
        }
        if (one.isReady() || dueNs == Turned.NEVER) {
            remove(one);
        }
        if (dueNs == Turned.NEVER) {
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

    private void moved(Turned one, long dueNs) {
        final boolean earlier = dueNs < one.dueNs();
        one.dueNs(dueNs);
        if (earlier) {
            up(one.index(), one);
        } else {
            down(one.index(), one);
        }
    }

    /** The task is never ready. */
    void remove(Turned one) {
        final int index = one.index();
        if (index < 0) {
            return;
        }
        one.index(-1);
        if (one.isReady()) {
            one.isReady(false);
            final Turned last = at(ready, --readyCount);
            ready[readyCount] = null;
            if (last != one) {
                ready[index] = last;
                last.index(index);
            }
            return;
        }
        final Turned last = at(waiting, --waitingCount);
        waiting[waitingCount] = null;
        if (last != one) {
            if (last.dueNs() < one.dueNs()) {
                up(index, last);
            } else {
                down(index, last);
            }
        }
    }

    private void addReady(Turned one) {
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
            final Turned one = at(waiting, 0);
            remove(one);
            addReady(one);
        }
    }

    /** The earliest ready time of the waiting tasks. */
    long earliestNs() {
        return waitingCount == 0 ? Turned.NEVER : at(waiting, 0).dueNs();
    }

    int readyCount() {
        return readyCount;
    }

    Turned ready(int index) {
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

    private void up(int from, Turned one) {
        int index = from;
        while (index > 0) {
            final int above = (index - 1) >>> 1;
            final Turned parent = at(waiting, above);
            if (parent.dueNs() <= one.dueNs()) {
                break;
            }
            set(index, parent);
            index = above;
        }
        set(index, one);
    }

    private void down(int from, Turned one) {
        int index = from;
        while (2 * index + 1 < waitingCount) {
            int below = 2 * index + 1;
            if (below + 1 < waitingCount
                    && at(waiting, below + 1).dueNs() < at(waiting, below).dueNs()) {
                below++;
            }
            final Turned child = at(waiting, below);
            if (one.dueNs() <= child.dueNs()) {
                break;
            }
            set(index, child);
            index = below;
        }
        set(index, one);
    }

    private void set(int index, Turned one) {
        waiting[index] = one;
        one.index(index);
    }

    private static Turned at(@Nullable Turned[] array, int index) {
        final Turned one = array[index];
        assert one != null;
        return one;
    }
}
