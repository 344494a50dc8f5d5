/** Benchmarks of operations over TCP. */
@NullMarked
package org.rowankv.bench.net;

import org.jspecify.annotations.NullMarked;
