/**
 * The fabric on which senders place their entries themselves: the receiver leases segments to each sending server, which
 * writes sealed entries into them by RDMA. No thread of the receiver takes part in an append.
 */
@NullMarked
package org.rowankv.rdma.leased;

import org.jspecify.annotations.NullMarked;
