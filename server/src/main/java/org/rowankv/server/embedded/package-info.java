/**
 * The wiring of servers in one JVM, and the session to them. The only package of this module that depends on the
 * driver.
 *
 * <p>A start in a fresh JVM pays for each class that it loads, and each lambda is one: what every start passes, here and
 * below, uses loops where they are as plain.
 */
@NullMarked
package org.rowankv.server.embedded;

import org.jspecify.annotations.NullMarked;
