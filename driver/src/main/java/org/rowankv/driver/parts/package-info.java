/** Values larger than an entry: cut into parts, and put together again. */
@NullMarked
package org.rowankv.driver.parts;

import org.jspecify.annotations.NullMarked;
