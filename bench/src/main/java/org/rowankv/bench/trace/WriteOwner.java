package org.rowankv.bench.trace;

import java.util.Locale;
import org.rowankv.server.area.SegmentOwner;

/** What places a write. */
public enum WriteOwner {
    /** A worker, in its t-log. */
    WORKER,
    /** A remote server, in the b-log. */
    BACKUP,
    /** The cleaner, which copies what is live. */
    CLEAN,
    /** The receiver of a shard that moves here. */
    MIGRATION,
    /** Segment table, tenures and superblock. */
    TABLE;

    private static final WriteOwner[] VALUES = values();

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static WriteOwner of(int code) {
        return VALUES[code];
    }

    static WriteOwner of(SegmentOwner owner) {
        return switch (owner) {
            case WORKER -> WORKER;
            case BACKUP -> BACKUP;
            case CLEAN -> CLEAN;
            case MIGRATION -> MIGRATION;
            case NONE -> throw new IllegalStateException("a write to a free segment");
        };
    }
}
