/** Fault injection into a cluster of processes: stops, kills and cuts, drawn from a seed. */
@NullMarked
package org.rowankv.check.disturb;

import org.jspecify.annotations.NullMarked;
