package org.rowankv.server.checkpoint;

/**
 * What checkpoints did for a store since it was opened.
 *
 * @param taken by all servers
 * @param loaded servers that started from one
 * @param objects that were in those, and not looked for in the log
 */
public record CheckpointStatistics(long taken, long loaded, long objects) {}
