/** Exactly-once for the client: request ids, sessions of requests, repeated attempts. Knows no connection. */
@NullMarked
package org.rowankv.driver.session;

import org.jspecify.annotations.NullMarked;
