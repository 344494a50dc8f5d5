/**
 * The simulation of a cluster whose servers are processes of their own: their own code, from the start with the others to
 * the TCP fabric, over simulated connections, memories and a simulated configuration store, one seed on one thread at a
 * time.
 */
@org.jspecify.annotations.NullMarked
package org.rowankv.sim.cluster;
