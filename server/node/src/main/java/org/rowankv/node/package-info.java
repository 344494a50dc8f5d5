/** A server that is a process of its own: command line, TCP, and the configuration in ZooKeeper. */
@NullMarked
package org.rowankv.node;

import org.jspecify.annotations.NullMarked;
