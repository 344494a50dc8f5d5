/**
 * The wiring of servers in one JVM, and the session to them. The only package of this module that depends on the
 * driver.
 */
@NullMarked
package org.rowankv.server.embedded;

import org.jspecify.annotations.NullMarked;
