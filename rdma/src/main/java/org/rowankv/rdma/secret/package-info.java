/** The secret that the servers of a cluster share, and the keys that follow from it (docs/design/fabrics.md). */
@NullMarked
package org.rowankv.rdma.secret;

import org.jspecify.annotations.NullMarked;
