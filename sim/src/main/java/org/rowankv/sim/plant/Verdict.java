package org.rowankv.sim.plant;

/**
 * Result of the search for one planted bug.
 *
 * @param after seeds of a simulator, seconds of processor time of a test
 * @param what the finding; or the reason for none
 */
record Verdict(boolean caught, int after, String what) {}
