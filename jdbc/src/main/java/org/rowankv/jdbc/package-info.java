/** JDBC driver whose tables are the caches of a store. */
@NullMarked
package org.rowankv.jdbc;

import org.jspecify.annotations.NullMarked;
