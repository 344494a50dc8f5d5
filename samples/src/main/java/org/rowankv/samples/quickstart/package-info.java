/** The first program to run: class files in a cache, reopened and checked. */
@NullMarked
package org.rowankv.samples.quickstart;

import org.jspecify.annotations.NullMarked;
