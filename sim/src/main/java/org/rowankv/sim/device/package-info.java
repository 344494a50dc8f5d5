/**
 * Devices that fail: what a power cut leaves of them, forces that throw, forces that were never done, bits that flip, disks that
 * are full. Both simulators use it.
 */
@NullMarked
package org.rowankv.sim.device;

import org.jspecify.annotations.NullMarked;
