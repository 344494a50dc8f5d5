/** Simulated RDMA devices and the network between them, in simulated time: the far side of {@code rdma.verbs}. */
@NullMarked
package org.rowankv.sim.verbs;

import org.jspecify.annotations.NullMarked;
