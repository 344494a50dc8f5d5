/** Values of caches as JSON. */
@NullMarked
package org.rowankv.jackson;

import org.jspecify.annotations.NullMarked;
