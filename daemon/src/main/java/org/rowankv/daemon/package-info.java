/** A server in a process of its own: commands, start, settings. The engine belongs to module server. */
@NullMarked
package org.rowankv.daemon;

import org.jspecify.annotations.NullMarked;
