/** A server that is a process of its own: commands, start, settings. The engine belongs to the server. */
@NullMarked
package org.rowankv.daemon;

import org.jspecify.annotations.NullMarked;
