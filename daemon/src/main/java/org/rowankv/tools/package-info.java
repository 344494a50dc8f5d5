/** Commands on the directory of a closed store, and their output. */
@NullMarked
package org.rowankv.tools;

import org.jspecify.annotations.NullMarked;
