/** Authority in a cluster: votes, leases, election and waits as values without clocks, threads or messages of their own. */
@NullMarked
package org.rowankv.server.authority;

import org.jspecify.annotations.NullMarked;
