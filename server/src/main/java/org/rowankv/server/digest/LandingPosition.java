package org.rowankv.server.digest;

/** A position in the backup log, in order of landing. */
public record LandingPosition(long ordinal, int offset) {}
