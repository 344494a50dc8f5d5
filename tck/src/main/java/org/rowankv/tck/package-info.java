/** Runner of the official JSR-107 TCK against this provider. */
@NullMarked
package org.rowankv.tck;

import org.jspecify.annotations.NullMarked;
