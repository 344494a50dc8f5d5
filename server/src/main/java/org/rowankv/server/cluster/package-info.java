/** The wiring of one server of a cluster of processes. Command lines and ZooKeeper belong to the daemon. */
@NullMarked
package org.rowankv.server.cluster;

import org.jspecify.annotations.NullMarked;
