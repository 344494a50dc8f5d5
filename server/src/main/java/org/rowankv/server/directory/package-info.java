/**
 * The directories of stores and servers: locks, manifests, closed stores. The bytes of an area belong to its own
 * package.
 */
@NullMarked
package org.rowankv.server.directory;

import org.jspecify.annotations.NullMarked;
