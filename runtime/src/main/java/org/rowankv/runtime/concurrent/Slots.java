package org.rowankv.runtime.concurrent;

/** A fixed number of slots, each of which is one holder's at a time. Thread-safe. */
public interface Slots {
    int count();

    /** A slot that is now the caller's, or −1 when none was found free. */
    int tryBorrow();

    /** Frees a slot, with a full fence; needs next to no stack, so that it can be what an error leads to. */
    void drop(int slot);
}
