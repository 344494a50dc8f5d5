/** Programs to run and to read. */
@NullMarked
package org.rowankv.samples;

import org.jspecify.annotations.NullMarked;
