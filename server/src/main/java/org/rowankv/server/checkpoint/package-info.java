/** Images of the indexes, from which a start that need not read the whole log begins. */
@NullMarked
package org.rowankv.server.checkpoint;

import org.jspecify.annotations.NullMarked;
