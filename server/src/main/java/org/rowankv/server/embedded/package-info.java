/** Servers inside the application's JVM, and the in-process session to them. */
@NullMarked
package org.rowankv.server.embedded;

import org.jspecify.annotations.NullMarked;
