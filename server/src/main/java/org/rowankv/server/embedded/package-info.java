/** The wiring of servers in one JVM, and the session to them. The only package of this module that knows the driver. */
@NullMarked
package org.rowankv.server.embedded;

import org.jspecify.annotations.NullMarked;
