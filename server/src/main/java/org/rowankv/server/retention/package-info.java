/** What ends an object without a request for its key: clears, expiry, eviction, session leases. */
@NullMarked
package org.rowankv.server.retention;

import org.jspecify.annotations.NullMarked;
