package org.rowankv.server.authority;

import java.lang.invoke.VarHandle;

/**
 * A shard's role on one server, for reads: open as the primary, or not, and how often that changed. A read takes the
 * word, checks the lease, reads, and compares the word. If it changed, another primary may have opened the shard, or
 * the replica may have been given up, while the reading thread stood still: the result is void. One writer, any
 * number of readers.
 *
 * <p>Claim: a read whose word is unchanged is linearizable between its lease check and the opening of the shard's next
 * primary, however long its thread stood still.
 */
public final class RoleWord {
    /** What {@link #take} returns if the shard is not open here. */
    public static final long CLOSED = 0;

    /** Changes so far; odd while the shard is open. */
    private volatile long word;

    public boolean isOpen() {
        return isOpen(word);
    }

    /** Opens the shard; what its replica contains is visible to reads that take this word. */
    public void open() {
        change(true);
    }

    /** Closes the shard. Only then may the content of its replica change without its primary. */
    public void close() {
        change(false);
        // A later store to the replica must not become visible before this word.
        VarHandle.fullFence();
    }

    private void change(boolean toOpen) {
        final long before = word;
        if (isOpen(before) != toOpen) {
            word = before + 1;
        }
    }

    /** The word to compare after reading, or {@link #CLOSED}. It is taken before the lease is checked. */
    public long take() {
        final long taken = word;
        return isOpen(taken) ? taken : CLOSED;
    }

    /** Whether what was read since that word was taken may be answered. */
    public boolean isUnchanged(long taken) {
        // The reads of the replica must not move behind the read of the word.
        VarHandle.acquireFence();
        return taken != CLOSED && word == taken;
    }

    private static boolean isOpen(long word) {
        return (word & 1) == 1;
    }
}
