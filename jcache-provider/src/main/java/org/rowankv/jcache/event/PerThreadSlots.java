package org.rowankv.jcache.event;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A value per thread, visible to that thread only. Unlike a {@code ThreadLocal}, a removed value leaves nothing of a
 * closed cache in an application's thread. Threads contend only if their ids share a slot; there is no counter that all
 * of them write, as in a map. Thread-safe.
 */
public final class PerThreadSlots<T> {
    private static final int SLOTS = 64;
    private static final int SPACING = 32; // references between two slots: two cache lines

    private static final class Binding<T> {
        private final Thread thread;
        private final T value;
        private final @Nullable Binding<T> next;

        Binding(Thread thread, T value, @Nullable Binding<T> next) {
            this.thread = thread;
            this.value = value;
            this.next = next;
        }
    }

    private final AtomicReferenceArray<@Nullable Binding<T>> slots = new AtomicReferenceArray<>((SLOTS + 1) * SPACING);

    private static int slotOf(Thread thread) {
        return (1 + ((int) thread.getId() & SLOTS - 1)) * SPACING;
    }

    /** The current thread's value, or null. */
    public @Nullable T get() {
        final Thread current = Thread.currentThread();
        Binding<T> binding = slots.get(slotOf(current));
        while (binding != null && binding.thread != current) {
            binding = binding.next;
        }
        return binding == null ? null : binding.value;
    }

    /** Sets the current thread's value; null removes it. */
    public void set(@Nullable T value) {
        final Thread current = Thread.currentThread();
        final int slot = slotOf(current);
        Binding<T> head;
        Binding<T> replacement;
        do {
            head = slots.get(slot);
            final Binding<T> others = without(head, current);
            replacement = value == null ? others : new Binding<>(current, value, others);
        } while (!slots.compareAndSet(slot, head, replacement));
    }

    private static <T> @Nullable Binding<T> without(@Nullable Binding<T> head, Thread thread) {
        if (head == null) {
            return null;
        }
        if (head.thread == thread) {
            return head.next;
        }
        final Binding<T> rest = without(head.next, thread);
        return rest == head.next ? head : new Binding<>(head.thread, head.value, rest);
    }
}
