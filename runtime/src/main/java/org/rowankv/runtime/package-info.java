/**
 * The base of all modules: clocks, randomness, the error log and named points for tests. Does not depend on caches,
 * servers or networks.
 */
@NullMarked
package org.rowankv.runtime;

import org.jspecify.annotations.NullMarked;
