/**
 * Model of the persistent memory of one server: what the write-combining buffers of its DIMMs merge, and how fast their
 * media take what they evict. A fit to a few published numbers, not a validated device model: its results are for
 * shapes and ratios. No product code, no threads, no wall clock.
 */
@NullMarked
package org.rowankv.bench.paper.memory;

import org.jspecify.annotations.NullMarked;
