package org.rowankv.server.snapshot;

/** Receives the progress of copying a running store, on the copying thread. */
@FunctionalInterface
public interface SnapshotProgress {
    /** Ignores the progress. */
    SnapshotProgress NONE = (segments, ofSegments) -> {};

    /**
     * An exception thrown here ends the copy, which then leaves nothing behind.
     *
     * @param segments copied so far, of all servers
     * @param ofSegments to copy in all
     */
    void copied(int segments, int ofSegments);
}
