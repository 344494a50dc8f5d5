/** Commands on the directory of a closed store: what they share, and their output. */
@NullMarked
package org.rowankv.tools;

import org.jspecify.annotations.NullMarked;
