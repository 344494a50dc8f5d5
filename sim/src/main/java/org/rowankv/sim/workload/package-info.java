/**
 * Operations of simulated clients, and the checks of their replies, shared by both forms. The transport of
 * attempts belongs to each simulator.
 */
@NullMarked
package org.rowankv.sim.workload;

import org.jspecify.annotations.NullMarked;
