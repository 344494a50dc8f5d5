/** Checks of clusters of processes: servers, a ZooKeeper, clients in their own JVMs, and proxies between them. */
@NullMarked
package org.rowankv.check.cluster;

import org.jspecify.annotations.NullMarked;
