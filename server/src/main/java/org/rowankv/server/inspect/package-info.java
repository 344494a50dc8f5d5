/** Inspection of closed stores, read-only. */
@NullMarked
package org.rowankv.server.inspect;

import org.jspecify.annotations.NullMarked;
