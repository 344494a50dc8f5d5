/** Meters of caches and stores for Micrometer. */
@NullMarked
package org.rowankv.micrometer;

import org.jspecify.annotations.NullMarked;
