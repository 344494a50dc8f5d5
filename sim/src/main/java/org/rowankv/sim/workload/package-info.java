/**
 * Operations of simulated clients, and the checks of their replies, shared by both forms.
 */
@NullMarked
package org.rowankv.sim.workload;

import org.jspecify.annotations.NullMarked;
