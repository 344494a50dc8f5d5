/** The configuration store on Apache ZooKeeper, with its access rights. */
@NullMarked
package org.rowankv.daemon.zookeeper;

import org.jspecify.annotations.NullMarked;
