/** Stores whose servers run in other processes. */
@NullMarked
package org.rowankv.jcache.cluster;

import org.jspecify.annotations.NullMarked;
