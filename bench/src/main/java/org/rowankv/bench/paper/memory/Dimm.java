package org.rowankv.bench.paper.memory;

import java.util.Arrays;

/**
 * One DIMM: a buffer of lines, each with a mask of the sectors written since it came in, and media that take one line
 * at a time.
 *
 * <p>The buffer evicts the line that was written least recently, and no sooner than it needs the room: whole lines
 * linger too. A line of which sectors are missing is read before it is written.
 */
final class Dimm {
    private static final int SECTORS = PersistentMemory.LINE_LENGTH / PersistentMemory.SECTOR_LENGTH;
    private static final int ALL_SECTORS = (1 << SECTORS) - 1;
    private static final int NONE = -1;

    private final int capacity;
    private final long lineNs;
    private final long readNs;

    /** Lines by slot, linked from the least to the most recently written one. */
    private final long[] lines;

    private final int[] masks;
    private final int[] newer;
    private final int[] older;
    private int oldest = NONE;
    private int newest = NONE;
    private int size;

    /** Slots by hash of the line, with linear probing; at most a quarter full. */
    private final int[] table;

    private final int tableMask;

    /** When the latest evictions will be over, as a ring. */
    private final long[] overNs;

    private int nextOver;
    private long mediaFreeNs;
    private long sectors;
    private long evicted;

    Dimm(MemorySettings settings) {
        capacity = settings.lines();
        lineNs = settings.lineNs();
        readNs = settings.readNs();
        lines = new long[capacity];
        masks = new int[capacity];
        newer = new int[capacity];
        older = new int[capacity];
        table = new int[Integer.highestOneBit(capacity) * 8];
        tableMask = table.length - 1;
        Arrays.fill(table, NONE);
        overNs = new long[settings.waiting()];
    }

    /** Writes a sector, and returns when it is accepted. */
    long write(long sector, boolean whole, long timeNs) {
        sectors++;
        long acceptedNs = timeNs;
        if (!whole) {
            mediaFreeNs = Math.max(mediaFreeNs, timeNs) + readNs;
        }
        final long line = sector / SECTORS;
        int slot = slotOf(line);
        if (slot == NONE) {
            if (size == capacity) {
                slot = oldest;
                acceptedNs = evict(slot, timeNs);
                remove(slot);
            } else {
                slot = size++;
            }
            insert(slot, line);
        } else {
            unlink(slot);
        }
        masks[slot] |= 1 << (int) (sector % SECTORS);
        linkNewest(slot);
        return acceptedNs;
    }

    /** Hands a line to the media, and returns when few enough evictions wait for them. */
    private long evict(int slot, long timeNs) {
        evicted++;
        final long acceptedNs = Math.max(timeNs, overNs[nextOver]);
        final long costNs = masks[slot] == ALL_SECTORS ? lineNs : lineNs + readNs;
        mediaFreeNs = Math.max(mediaFreeNs, timeNs) + costNs;
        overNs[nextOver] = mediaFreeNs;
        nextOver = (nextOver + 1) % overNs.length;
        return acceptedNs;
    }

    void evictAll(long timeNs) {
        for (int slot = oldest; slot != NONE; slot = newer[slot]) {
            evict(slot, timeNs);
        }
        Arrays.fill(table, NONE);
        oldest = NONE;
        newest = NONE;
        size = 0;
    }

    void resetCounts() {
        sectors = 0;
        evicted = 0;
    }

    long mediaFreeNs() {
        return mediaFreeNs;
    }

    long sectors() {
        return sectors;
    }

    long evicted() {
        return evicted;
    }

    private int homeOf(long line) {
        return (int) ((line * 0x9E3779B97F4A7C15L) >>> 40) & tableMask;
    }

    private int slotOf(long line) {
        for (int i = homeOf(line); table[i] != NONE; i = i + 1 & tableMask) {
            if (lines[table[i]] == line) {
                return table[i];
            }
        }
        return NONE;
    }

    private void insert(int slot, long line) {
        lines[slot] = line;
        masks[slot] = 0;
        int i = homeOf(line);
        while (table[i] != NONE) {
            i = i + 1 & tableMask;
        }
        table[i] = slot;
    }

    /** Takes a slot out of list and table; entries behind it move up, so that each stays reachable from its home. */
    private void remove(int slot) {
        unlink(slot);
        int hole = homeOf(lines[slot]);
        while (table[hole] != slot) {
            hole = hole + 1 & tableMask;
        }
        for (int i = hole + 1 & tableMask; table[i] != NONE; i = i + 1 & tableMask) {
            final int home = homeOf(lines[table[i]]);
            if ((i - home & tableMask) >= (i - hole & tableMask)) {
                table[hole] = table[i];
                hole = i;
            }
        }
        table[hole] = NONE;
    }

    private void unlink(int slot) {
        final int before = older[slot];
        final int after = newer[slot];
        if (before == NONE) {
            oldest = after;
        } else {
            newer[before] = after;
        }
        if (after == NONE) {
            newest = before;
        } else {
            older[after] = before;
        }
    }

    private void linkNewest(int slot) {
        older[slot] = newest;
        newer[slot] = NONE;
        if (newest == NONE) {
            oldest = slot;
        } else {
            newer[newest] = slot;
        }
        newest = slot;
    }
}
