/** Cold start: scan, then collect and scatter, so that all replicas own the same entries. */
@NullMarked
package org.rowankv.server.reconfiguration;

import org.jspecify.annotations.NullMarked;
