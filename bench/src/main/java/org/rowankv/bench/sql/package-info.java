/** SQL over caches, beside the cache API. */
@NullMarked
package org.rowankv.bench.sql;

import org.jspecify.annotations.NullMarked;
