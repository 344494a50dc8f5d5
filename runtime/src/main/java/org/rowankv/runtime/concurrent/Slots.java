package org.rowankv.runtime.concurrent;

/** A fixed number of slots, each held by one owner at a time. Thread-safe. */
public interface Slots {
    int count();

    /** Acquires a slot; −1 if none was found free. */
    int tryAcquire();

    /** Frees a slot, with a full fence; needs almost no stack, so it is safe on an error path. */
    void drop(int slot);
}
