/**
 * The simulation of an embedded store: all its servers, and its clients, on one thread. A task that stops at a named
 * point has others run on its stack.
 */
@NullMarked
package org.rowankv.sim.embedded;

import org.jspecify.annotations.NullMarked;
