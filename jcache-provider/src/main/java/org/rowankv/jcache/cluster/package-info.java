/** Stores whose servers run elsewhere. */
@NullMarked
package org.rowankv.jcache.cluster;

import org.jspecify.annotations.NullMarked;
