/** Clusters of processes on this machine, in directories that do not stay. */
@NullMarked
package org.rowankv.check.local;

import org.jspecify.annotations.NullMarked;
