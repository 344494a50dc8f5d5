/** Exactly-once execution on the client: request ids, sessions, repeated attempts. Independent of connections. */
@NullMarked
package org.rowankv.driver.session;

import org.jspecify.annotations.NullMarked;
