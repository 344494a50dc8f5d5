/**
 * What simulated clients ask, and how answers are judged: once for both simulators. How attempts travel is the simulators' own.
 */
@NullMarked
package org.rowankv.sim.workload;

import org.jspecify.annotations.NullMarked;
