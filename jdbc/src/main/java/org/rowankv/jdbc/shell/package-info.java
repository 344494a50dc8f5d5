/** The command {@code rowan sql}. */
@NullMarked
package org.rowankv.jdbc.shell;

import org.jspecify.annotations.NullMarked;
