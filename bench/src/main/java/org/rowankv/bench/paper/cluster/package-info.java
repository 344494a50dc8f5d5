/**
 * Discrete-event simulation of a cluster of the paper: clients, workers, network cards and persistent memory of six
 * servers, and the ways of replication that the paper compares. No product code, no threads.
 */
@NullMarked
package org.rowankv.bench.paper.cluster;

import org.jspecify.annotations.NullMarked;
