/** Which classes a call enters on its way. Counts, and no times. */
@NullMarked
package org.rowankv.bench.walk;

import org.jspecify.annotations.NullMarked;
