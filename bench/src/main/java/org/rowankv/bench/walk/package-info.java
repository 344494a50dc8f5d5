/** Counts of the classes on the path of a call. No times. */
@NullMarked
package org.rowankv.bench.walk;

import org.jspecify.annotations.NullMarked;
