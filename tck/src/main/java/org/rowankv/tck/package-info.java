/** The official JSR-107 TCK, run against this provider. */
@NullMarked
package org.rowankv.tck;

import org.jspecify.annotations.NullMarked;
