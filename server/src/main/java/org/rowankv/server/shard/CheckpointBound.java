package org.rowankv.server.shard;

/**
 * The entries of a shard that a checkpoint names, used while the log behind it is read. Of the entries up to a
 * version, all of which had taken effect when the checkpoint was taken, only those that it names are alive. Other
 * entries found are copies of what was replaced, removed or cleared since; the entry that ended them may be gone from
 * the log.
 *
 * <p>One thread fills it; then any number of threads read it.
 */
public final class CheckpointBound {
    private final long itemsUpTo;
    private final long sessionsUpTo;
    private final Numbers named = new Numbers();
    private final Numbers openSessions = new Numbers();

    /**
     * @param itemsUpTo every keyed entry up to this version is reflected in the image of the index
     * @param sessionsUpTo every opening of a session up to this version is reflected in the sessions
     */
    public CheckpointBound(long itemsUpTo, long sessionsUpTo) {
        this.itemsUpTo = itemsUpTo;
        this.sessionsUpTo = sessionsUpTo;
    }

    /** The image names that entry; the scan must find it in the log. */
    public void name(long version) {
        named.add(version);
    }

    public void open(long sessionId) {
        openSessions.add(sessionId);
    }

    /** Whether a keyed entry that the index does not contain is dead. */
    boolean isOver(long version) {
        return version <= itemsUpTo && !named.contains(version);
    }

    boolean isSessionOver(long sessionId, long version) {
        return version <= sessionsUpTo && !openSessions.contains(sessionId);
    }

    /** A set of numbers other than 0, by open addressing: at most 16 bytes each. Not thread-safe while it grows. */
    private static final class Numbers {
        private long[] slots = new long[8];
        private int size;

        void add(long number) {
            if (number == 0) {
                throw new IllegalArgumentException("0 is none");
            }
            if (2 * (size + 1) > slots.length) {
                final long[] old = slots;
                slots = new long[2 * old.length];
                for (long each : old) {
                    if (each != 0) {
                        slots[slotOf(each)] = each;
                    }
                }
            }
            final int slot = slotOf(number);
            if (slots[slot] == 0) {
                slots[slot] = number;
                size++;
            }
        }

        boolean contains(long number) {
            return slots[slotOf(number)] == number;
        }

        private int slotOf(long number) {
            final int mask = slots.length - 1;
            int slot = (int) (number * 0x9e3779b97f4a7c15L >>> 32) & mask;
            while (slots[slot] != 0 && slots[slot] != number) {
                slot = slot + 1 & mask;
            }
            return slot;
        }
    }
}
