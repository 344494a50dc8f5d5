/** Caches of closed stores, for tools that rewrite them. */
@NullMarked
package org.rowankv.server.embedded.offline;

import org.jspecify.annotations.NullMarked;
