/** Columns of a cache: found in its stored entries, and the SQL values of their bytes. */
@NullMarked
package org.rowankv.jdbc.mapping;

import org.jspecify.annotations.NullMarked;
