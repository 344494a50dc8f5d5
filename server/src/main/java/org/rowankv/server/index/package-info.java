/** The DRAM index of a shard: it maps a key to the address of its newest entry. */
@NullMarked
package org.rowankv.server.index;

import org.jspecify.annotations.NullMarked;
