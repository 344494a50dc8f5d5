/** Client connections: a port that other processes reach a server by, and the loops that serve them. */
@NullMarked
package org.rowankv.server.client;

import org.jspecify.annotations.NullMarked;
