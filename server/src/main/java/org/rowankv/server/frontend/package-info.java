/** The port for clients: connections, event loops, answers. What a request does belongs to the engine. */
@NullMarked
package org.rowankv.server.frontend;

import org.jspecify.annotations.NullMarked;
