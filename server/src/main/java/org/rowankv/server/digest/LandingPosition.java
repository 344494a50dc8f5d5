package org.rowankv.server.digest;

/** A position in the backup log. */
public record LandingPosition(long ordinal, int offset) {}
