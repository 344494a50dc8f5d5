/** Replication of a log entry to a shard's backups. */
@NullMarked
package org.rowankv.server.replication;

import org.jspecify.annotations.NullMarked;
