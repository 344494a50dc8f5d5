/** Membership of a cluster: registrations, members, the initial placement of shards. */
@NullMarked
package org.rowankv.server.membership;

import org.jspecify.annotations.NullMarked;
