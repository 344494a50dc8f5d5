package org.rowankv.server.checkpoint;

/**
 * The use of checkpoints since a store was opened.
 *
 * @param taken by all servers
 * @param loaded servers that started from one
 * @param objects in those, not searched in the log
 */
public record CheckpointStatistics(long taken, long loaded, long objects) {
    public CheckpointStatistics plus(CheckpointStatistics other) {
        return new CheckpointStatistics(taken + other.taken, loaded + other.loaded, objects + other.objects);
    }
}
