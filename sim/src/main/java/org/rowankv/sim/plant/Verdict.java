package org.rowankv.sim.plant;

/**
 * What came of looking for one planted bug.
 *
 * @param after seeds of a simulator, seconds of processor time of a test
 * @param what was found; or why nothing was
 */
record Verdict(boolean caught, int after, String what) {}
