/**
 * The simulation of a cluster of server processes: their own code, from the coordinated start to the TCP fabric, over
 * simulated connections, memories and a simulated configuration store, one seed on one thread at a time.
 */
@org.jspecify.annotations.NullMarked
package org.rowankv.sim.cluster;
