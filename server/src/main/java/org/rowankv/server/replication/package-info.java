/** The primary's side of replication: entries to the backups, credit, the commit version. */
@NullMarked
package org.rowankv.server.replication;

import org.jspecify.annotations.NullMarked;
