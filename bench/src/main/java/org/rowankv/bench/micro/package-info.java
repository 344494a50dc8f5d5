/** Benchmarks of single operations of an embedded store, and of the floors they are compared with. */
@NullMarked
package org.rowankv.bench.micro;

import org.jspecify.annotations.NullMarked;
