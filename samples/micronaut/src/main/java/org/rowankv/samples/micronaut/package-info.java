/** A Micronaut application with cacheable methods. */
@NullMarked
package org.rowankv.samples.micronaut;

import org.jspecify.annotations.NullMarked;
