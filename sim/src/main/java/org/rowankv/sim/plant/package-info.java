/**
 * Planted bugs: known mistakes, each in one place of the production code, and what must catch each of them. A judge that
 * catches none of the mistakes it is there for proves nothing.
 */
@NullMarked
package org.rowankv.sim.plant;

import org.jspecify.annotations.NullMarked;
