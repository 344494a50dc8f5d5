/** The architecture as tests: arrows between modules and rooms, the seams, names and sizes. */
@NullMarked
package org.rowankv.rules;

import org.jspecify.annotations.NullMarked;
