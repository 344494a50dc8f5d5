/** Messages between servers beside the log: questions, exchanges, pressure. Log entries go through the fabric. */
@NullMarked
package org.rowankv.server.peer;

import org.jspecify.annotations.NullMarked;
