/**
 * Planted bugs: known bugs, each in one place of the production code, with their catchers. A checker that catches none
 * of its planted bugs proves nothing.
 */
@NullMarked
package org.rowankv.sim.plant;

import org.jspecify.annotations.NullMarked;
