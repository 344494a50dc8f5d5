/** Does to a cluster of processes what the world does: stops, kills and cuts, drawn from a seed. */
@NullMarked
package org.rowankv.check.disturb;

import org.jspecify.annotations.NullMarked;
