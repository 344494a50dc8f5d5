/**
 * Faulty devices, shared by both forms: power cuts, forces that throw, forces that were never done, bit flips,
 * full disks.
 */
@NullMarked
package org.rowankv.sim.device;

import org.jspecify.annotations.NullMarked;
