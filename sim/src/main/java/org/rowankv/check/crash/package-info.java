/** The rounds of {@code rowan crash}: a child that is killed, its journal, and the checks afterwards. */
@NullMarked
package org.rowankv.check.crash;

import org.jspecify.annotations.NullMarked;
