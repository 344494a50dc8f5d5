/** Clients in JVMs of their own, and what their callers saw. */
@NullMarked
package org.rowankv.check.client;

import org.jspecify.annotations.NullMarked;
