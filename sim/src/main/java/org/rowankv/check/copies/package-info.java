/** How fast a lost disk's replicas are copied to its replacement, and what callers notice of it. */
@NullMarked
package org.rowankv.check.copies;

import org.jspecify.annotations.NullMarked;
