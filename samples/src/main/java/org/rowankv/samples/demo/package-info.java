/** Programs that show what outlives a process, and the cost of a start. */
@NullMarked
package org.rowankv.samples.demo;

import org.jspecify.annotations.NullMarked;
