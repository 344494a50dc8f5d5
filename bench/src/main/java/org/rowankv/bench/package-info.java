/** Measurements and the floors they are compared with. */
@NullMarked
package org.rowankv.bench;

import org.jspecify.annotations.NullMarked;
