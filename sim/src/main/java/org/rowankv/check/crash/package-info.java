/** The rounds of {@code rowan crash}: a child that is killed, its journal, and what must be found afterwards. */
@NullMarked
package org.rowankv.check.crash;

import org.jspecify.annotations.NullMarked;
