/**
 * The few verbs of an RDMA device that the fabric {@code rdma} uses: reliable connections, SEND into posted receives,
 * WRITE and READ of exposed memory, completions. Knows no library that provides them, and nothing of entries.
 */
@NullMarked
package org.rowankv.rdma.verbs;

import org.jspecify.annotations.NullMarked;
