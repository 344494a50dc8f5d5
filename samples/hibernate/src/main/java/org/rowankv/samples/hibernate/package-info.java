/** A shop with Hibernate, whose second-level cache is named by the URI of a file. */
@NullMarked
package org.rowankv.samples.hibernate;

import org.jspecify.annotations.NullMarked;
