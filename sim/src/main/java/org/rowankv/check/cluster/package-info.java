/** Judging clusters of processes: servers, a ZooKeeper, clients in JVMs of their own, and what stands in between. */
@NullMarked
package org.rowankv.check.cluster;

import org.jspecify.annotations.NullMarked;
