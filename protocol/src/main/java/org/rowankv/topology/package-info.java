/**
 * Where a key lives: the key hash, shards, and the configuration that assigns shards to servers. How a configuration
 * is kept or agreed on belongs to the server.
 */
@NullMarked
package org.rowankv.topology;

import org.jspecify.annotations.NullMarked;
