package org.rowankv.server.digest;

/**
 * A place in the backup log.
 *
 * @param ordinal of a posted segment
 * @param offset in it, in bytes
 */
public record LandingPosition(long ordinal, int offset) {}
