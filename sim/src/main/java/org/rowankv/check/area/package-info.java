/** Content of the areas of a closed store, read without the index. */
@NullMarked
package org.rowankv.check.area;

import org.jspecify.annotations.NullMarked;
