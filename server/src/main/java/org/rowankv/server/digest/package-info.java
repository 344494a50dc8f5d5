/** The backup's side of replication: landed entries into the indexes, and the posting of segments. */
@NullMarked
package org.rowankv.server.digest;

import org.jspecify.annotations.NullMarked;
