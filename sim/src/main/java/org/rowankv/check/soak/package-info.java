/** One store under everything at once, for long: overwrites, deletes, expiry, eviction, cleaning. */
@NullMarked
package org.rowankv.check.soak;

import org.jspecify.annotations.NullMarked;
