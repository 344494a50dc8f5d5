/** Clusters of processes that lose servers, networks and ZooKeeper under load: what a fault costs, and whether all answers are right. */
@NullMarked
package org.rowankv.check.chaos;

import org.jspecify.annotations.NullMarked;
