package org.rowankv.server.shard;

import java.util.Arrays;
import org.rowankv.server.log.SegmentHolds;
import org.rowankv.server.log.Segments;

/**
 * The entries of one replica on a backup that may not be on all replicas: version and address of each that took effect
 * here and is above CommitVer. A live replica lists and returns them by this when another server becomes the shard's
 * primary (§4.5 of the paper), without reading the log.
 *
 * <p>Never incomplete: it grows as far as memory goes, and an {@link OutOfMemoryError} stops the server. It is bounded
 * by what the primary has in flight, and what lands until CommitVer follows: sixteen bytes for each, and each has an
 * entry in a segment that is not committed. In the steady state nothing is allocated.
 *
 * <p>An address stays valid: a segment of the backup log is not cleaned before it is committed, and the cleaner leaves
 * every other segment alone that holds an entry of a tail ({@link SegmentHolds}).
 *
 * <p>Owned by the thread that digests.
 */
public final class ShardTail {
    private static final int WORDS = 2;
    private static final int FIRST = 32 * WORDS;
    /** Trims between two decisions whether to shrink. */
    private static final int PERIOD = 256;
    /** Beside an address, which is a multiple of the stride: the segment is held. */
    private static final long HELD = 1;

    private final Segments segments;
    private final SegmentHolds holds;
    private long[] entries = {};
    private int used;
    private long smallest = Long.MAX_VALUE;
    private int highestUse;
    private int trims;

    ShardTail(Segments segments) {
        this.segments = segments;
        this.holds = segments.holds();
    }

    /** An entry that lies in the backup log. */
    public void landed(long version, long address) {
        add(version, address);
    }

    /** An entry that lies in a log of copies: its segment may be closed at any time. */
    public void copied(long version, long address) {
        add(version, address | HELD);
        holds.hold(segments.segmentOf(address));
    }

    private void add(long version, long address) {
        if (used == entries.length) {
            entries = Arrays.copyOf(entries, Math.max(FIRST, 2 * used));
        }
        entries[used] = version;
        entries[used + 1] = address;
        used += WORDS;
        smallest = Math.min(smallest, version);
        highestUse = Math.max(highestUse, used);
    }

    /** Drops what is on all replicas. */
    public void trim(long commitVersion) {
        if (smallest <= commitVersion) {
            dropUpTo(commitVersion);
        }
        if (++trims == PERIOD) {
            shrink();
            trims = 0;
            highestUse = used;
        }
    }

    private void dropUpTo(long commitVersion) {
        int kept = 0;
        smallest = Long.MAX_VALUE;
        for (int i = 0; i < used; i += WORDS) {
            if (entries[i] > commitVersion) {
                smallest = Math.min(smallest, entries[i]);
                entries[kept] = entries[i];
                entries[kept + 1] = entries[i + 1];
                kept += WORDS;
            } else if ((entries[i + 1] & HELD) != 0) {
                holds.release(segments.segmentOf(entries[i + 1] & ~HELD));
            }
        }
        used = kept;
    }

    /** Gives memory back of which hardly anything was used for long. */
    private void shrink() {
        if (entries.length > FIRST && highestUse <= entries.length / 8) {
            entries = Arrays.copyOf(entries, Math.max(FIRST, entries.length / 4));
        }
    }

    /** The versions above that one, each once, in ascending order. */
    public long[] versionsAbove(long version) {
        final long[] found = new long[size()];
        int count = 0;
        for (int i = 0; i < used; i += WORDS) {
            if (entries[i] > version) {
                found[count++] = entries[i];
            }
        }
        Arrays.sort(found, 0, count);
        int distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || found[i] != found[i - 1]) {
                found[distinct++] = found[i];
            }
        }
        return Arrays.copyOf(found, distinct);
    }

    /** The address of the entry with that version, until the next {@link #trim}; 0 if there is none. */
    public long addressOf(long version) {
        for (int i = 0; i < used; i += WORDS) {
            if (entries[i] == version) {
                return entries[i + 1] & ~HELD;
            }
        }
        return 0;
    }

    public boolean contains(long version) {
        return addressOf(version) != 0;
    }

    /** The number of entries; one that landed twice may count twice. */
    public int size() {
        return used / WORDS;
    }
}
