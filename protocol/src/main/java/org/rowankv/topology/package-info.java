/**
 * Placement of keys: the key hash, shards, and the configuration that assigns shards to servers. The server stores
 * configurations and agrees on them.
 */
@NullMarked
package org.rowankv.topology;

import org.jspecify.annotations.NullMarked;
