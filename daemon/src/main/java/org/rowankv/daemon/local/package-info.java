/** Clusters of processes on one machine, for development and tests. */
@NullMarked
package org.rowankv.daemon.local;

import org.jspecify.annotations.NullMarked;
