/** The workload of {@code rowan verify}: callers, the faults around them, and the windows of the checker. */
@NullMarked
package org.rowankv.check.verify;

import org.jspecify.annotations.NullMarked;
