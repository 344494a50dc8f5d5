/** The agents that end objects without a request for their key: clears, expiry, eviction, session leases. */
@NullMarked
package org.rowankv.server.retention;

import org.jspecify.annotations.NullMarked;
