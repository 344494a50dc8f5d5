/** Caches as tables of H2: a schema that finds them, their indexes, and row changes by version. */
@NullMarked
package org.rowankv.jdbc.table;

import org.jspecify.annotations.NullMarked;
