/** Checks of what servers hold: replicas, segments, space, and the entries that a digest commits. */
@NullMarked
package org.rowankv.sim.state;

import org.jspecify.annotations.NullMarked;
