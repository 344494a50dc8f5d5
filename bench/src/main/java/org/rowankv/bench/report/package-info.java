/** Shared parts of the benchmarks: target tables, key draws, child processes. */
@NullMarked
package org.rowankv.bench.report;

import org.jspecify.annotations.NullMarked;
