/** The fabric: moving bytes between machines in batches, by posting and polling. */
@NullMarked
package org.rowankv.rdma;

import org.jspecify.annotations.NullMarked;
