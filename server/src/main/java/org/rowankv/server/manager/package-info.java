/** The configuration manager of a cluster, and how servers that run follow it: leases, election, changes, adoption. */
@NullMarked
package org.rowankv.server.manager;

import org.jspecify.annotations.NullMarked;
