package org.rowankv.jcache.event;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A value per thread, which only that thread sees and which holds on to nothing once it is taken away: unlike in a
 * {@code ThreadLocal} nothing of a closed cache stays with an application's thread. Threads meet only if their ids fall on
 * one place; there is no counter that all of them write, as a map has. Thread-safe.
 */
public final class PerThreadSlots<T> {
    private static final int PLACES = 64;
    private static final int SPACING = 32; // references between two places: two cache lines

    private static final class Held<T> {
        private final Thread thread;
        private final T value;
        private final @Nullable Held<T> next;

        Held(Thread thread, T value, @Nullable Held<T> next) {
            this.thread = thread;
            this.value = value;
            this.next = next;
        }
    }

    private final AtomicReferenceArray<@Nullable Held<T>> places = new AtomicReferenceArray<>((PLACES + 1) * SPACING);

    private static int placeOf(Thread thread) {
        return (1 + ((int) thread.getId() & PLACES - 1)) * SPACING;
    }

    /** What the current thread has set, or null. */
    public @Nullable T get() {
        final Thread current = Thread.currentThread();
        Held<T> held = places.get(placeOf(current));
        while (held != null && held.thread != current) {
            held = held.next;
        }
        return held == null ? null : held.value;
    }

    /** Sets the current thread's value; null takes it away. */
    public void set(@Nullable T value) {
        final Thread current = Thread.currentThread();
        final int place = placeOf(current);
        Held<T> head;
        Held<T> replacement;
        do {
            head = places.get(place);
            final Held<T> others = without(head, current);
            replacement = value == null ? others : new Held<>(current, value, others);
        } while (!places.compareAndSet(place, head, replacement));
    }

    private static <T> @Nullable Held<T> without(@Nullable Held<T> head, Thread thread) {
        if (head == null) {
            return null;
        }
        if (head.thread == thread) {
            return head.next;
        }
        final Held<T> rest = without(head.next, thread);
        return rest == head.next ? head : new Held<>(head.thread, head.value, rest);
    }
}
