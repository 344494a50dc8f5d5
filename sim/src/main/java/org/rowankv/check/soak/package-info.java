/** Long run of one store under combined load: overwrites, deletes, expiry, eviction, cleaning. */
@NullMarked
package org.rowankv.check.soak;

import org.jspecify.annotations.NullMarked;
