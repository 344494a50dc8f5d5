/** Images of the indexes, from which a start begins that does not read the whole log. */
@NullMarked
package org.rowankv.server.checkpoint;

import org.jspecify.annotations.NullMarked;
