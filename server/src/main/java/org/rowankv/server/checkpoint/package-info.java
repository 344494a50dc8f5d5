/** Checkpoints: images of the indexes, from which a start begins without reading the whole log. */
@NullMarked
package org.rowankv.server.checkpoint;

import org.jspecify.annotations.NullMarked;
