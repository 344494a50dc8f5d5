/** Words counted through {@code javax.cache} alone. */
@NullMarked
package org.rowankv.samples.plain;

import org.jspecify.annotations.NullMarked;
