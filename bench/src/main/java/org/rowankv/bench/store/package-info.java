/** Benchmarks of whole stores: cleaning, cold starts, memory. */
@NullMarked
package org.rowankv.bench.store;

import org.jspecify.annotations.NullMarked;
