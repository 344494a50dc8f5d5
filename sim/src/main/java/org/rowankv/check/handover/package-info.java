/** How long the callers of a shard wait while it is handed over from one server process to another. */
@NullMarked
package org.rowankv.check.handover;

import org.jspecify.annotations.NullMarked;
