/**
 * The deterministic simulator: the servers' own code, its agents and its clients on one thread, in an order drawn from
 * a seed, with crashes, stalls, fences and lost messages; and checkers of the results.
 */
@NullMarked
package org.rowankv.sim;

import org.jspecify.annotations.NullMarked;
