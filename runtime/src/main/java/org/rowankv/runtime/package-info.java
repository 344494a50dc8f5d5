/**
 * The base of all modules: clocks, randomness, the error log and named points for tests. Knows nothing of caches,
 * servers or networks.
 */
@NullMarked
package org.rowankv.runtime;

import org.jspecify.annotations.NullMarked;
