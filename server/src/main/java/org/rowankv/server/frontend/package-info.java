/** The port for clients: connections, event loops, answers. The engine executes the requests. */
@NullMarked
package org.rowankv.server.frontend;

import org.jspecify.annotations.NullMarked;
