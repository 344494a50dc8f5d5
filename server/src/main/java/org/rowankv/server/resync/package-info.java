/** Resynchronization: brings a replica up to date while its shard serves. */
@NullMarked
package org.rowankv.server.resync;

import org.jspecify.annotations.NullMarked;
