/** Where a key lives: key hash, shards, the configuration and its term. */
@NullMarked
package org.rowankv.placement;

import org.jspecify.annotations.NullMarked;
