/** Measures caches through the JCache API. */
@NullMarked
package org.rowankv.bench.jcache;

import org.jspecify.annotations.NullMarked;
