/** The existing caches, by name and id: their nodes in the configuration store and the requests of clients. */
@NullMarked
package org.rowankv.server.catalogue;

import org.jspecify.annotations.NullMarked;
