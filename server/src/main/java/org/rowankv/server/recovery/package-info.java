/**
 * The start of a server: scan of its log, then the same entries on all replicas. Bringing a running replica up to
 * date belongs to resync.
 */
@NullMarked
package org.rowankv.server.recovery;

import org.jspecify.annotations.NullMarked;
