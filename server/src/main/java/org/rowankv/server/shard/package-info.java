/** One shard's replica on this server: index, completions, clears, versions; applies entries. */
@NullMarked
package org.rowankv.server.shard;

import org.jspecify.annotations.NullMarked;
