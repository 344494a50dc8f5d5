/** Clients in their own JVMs, and the histories of their callers. */
@NullMarked
package org.rowankv.check.client;

import org.jspecify.annotations.NullMarked;
