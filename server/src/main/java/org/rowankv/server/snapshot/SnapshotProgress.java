package org.rowankv.server.snapshot;

/** Told how far a copy of a running store has come, by the thread that makes it. */
@FunctionalInterface
public interface SnapshotProgress {
    /** Somebody who does not care. */
    SnapshotProgress NONE = (segments, ofSegments) -> {};

    /**
     * What this throws ends the copy, which then leaves nothing behind.
     *
     * @param segments that were copied so far, of all servers
     * @param ofSegments that are copied in all
     */
    void copied(int segments, int ofSegments);
}
