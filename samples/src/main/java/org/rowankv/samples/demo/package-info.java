/** Programs that show what outlives a process, and what a start costs. */
@NullMarked
package org.rowankv.samples.demo;

import org.jspecify.annotations.NullMarked;
