/**
 * The fabric between servers of one JVM: one-sided, with the sender's CPU in the role of the receiver's NIC. {@code
 * docs/design/fabrics.md} describes the design and its limits.
 *
 * <p>{@link org.rowankv.rdma.local.LocalFabric} is the entry point; {@code LandingRing} and {@code HazardWord} describe
 * the shared words and their writers.
 */
@NullMarked
package org.rowankv.rdma.local;

import org.jspecify.annotations.NullMarked;
