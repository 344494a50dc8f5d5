/** The DRAM index of a shard: which address holds the newest entry of a key. */
@NullMarked
package org.rowankv.server.index;

import org.jspecify.annotations.NullMarked;
