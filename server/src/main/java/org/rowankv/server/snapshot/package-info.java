/** Copies of stores, closed or running, and their comparison. */
@NullMarked
package org.rowankv.server.snapshot;

import org.jspecify.annotations.NullMarked;
