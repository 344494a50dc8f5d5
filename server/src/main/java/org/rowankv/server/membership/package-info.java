/** Which servers make up a cluster: announcements, members, the first distribution of shards. */
@NullMarked
package org.rowankv.server.membership;

import org.jspecify.annotations.NullMarked;
