/** Opening of a shard on a live server: collect and scatter (§4.5 of the paper) while other shards are served. */
@NullMarked
package org.rowankv.server.opening;

import org.jspecify.annotations.NullMarked;
