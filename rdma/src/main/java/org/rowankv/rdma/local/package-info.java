/**
 * The fabric between servers of one JVM: one-sided, with the sender's CPU in the role of the receiver's NIC. The
 * design, with what it does not do, is {@code docs/design/02-local-fabric.md}.
 *
 * <p>{@link org.rowankv.rdma.local.LocalFabric} is the door; the shared words and who may change them are described in
 * {@code LandingRing} and {@code HazardWord}.
 */
@NullMarked
package org.rowankv.rdma.local;

import org.jspecify.annotations.NullMarked;
