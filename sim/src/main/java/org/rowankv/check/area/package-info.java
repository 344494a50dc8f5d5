/** What lies in the areas of a store that nobody has open, read without the index. */
@NullMarked
package org.rowankv.check.area;

import org.jspecify.annotations.NullMarked;
