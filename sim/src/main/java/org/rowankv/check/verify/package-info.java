/** The workload of {@code rowan verify}: callers, the faults around them, and the judge's windows. */
@NullMarked
package org.rowankv.check.verify;

import org.jspecify.annotations.NullMarked;
