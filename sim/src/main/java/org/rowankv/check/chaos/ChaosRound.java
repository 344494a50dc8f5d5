package org.rowankv.check.chaos;

/**
 * One planned fault.
 *
 * @param server that is hit, unless the kind decides that
 * @param other another server, for kinds that hit two
 * @param lengthNs how long what was hit is away or stands still
 * @param order of the servers' starts, as a permutation drawn from this number
 */
record ChaosRound(ChaosFault kind, int server, int other, long lengthNs, long order) {}
