/**
 * The deterministic simulator: the servers' own code, its agents and its clients on one thread, in an order drawn from a
 * seed, with crashes, stalls, fences and lost messages; and judges that look at what came of it.
 */
@NullMarked
package org.rowankv.sim;

import org.jspecify.annotations.NullMarked;
