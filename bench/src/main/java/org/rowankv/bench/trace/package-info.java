/**
 * What the product writes to its areas: observed at its durability seam and counted, or replayed through the model of
 * persistent memory.
 */
@NullMarked
package org.rowankv.bench.trace;

import org.jspecify.annotations.NullMarked;
