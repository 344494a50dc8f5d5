/** Where a key lives: the seeded key hash, shards, and the configuration that assigns shards to servers. */
@NullMarked
package org.rowankv.placement;

import org.jspecify.annotations.NullMarked;
