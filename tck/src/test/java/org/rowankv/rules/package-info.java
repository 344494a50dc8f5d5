/** The architecture as tests: dependencies between modules and packages, seams, names and sizes. */
@NullMarked
package org.rowankv.rules;

import org.jspecify.annotations.NullMarked;
