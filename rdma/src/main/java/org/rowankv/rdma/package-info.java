/**
 * Transport of bytes between machines: the fabric, its queue pairs and receive queues, as an interface of few verbs.
 *
 * <p>Set-up ({@link org.rowankv.rdma.Fabric}, {@link org.rowankv.rdma.Endpoint}) and data path ({@link
 * org.rowankv.rdma.QueuePair}, {@link org.rowankv.rdma.ReceiveQueue}) are separate types. The package is independent of
 * log entries; {@code org.rowankv.rdma.rowan} describes the frame of every landing.
 */
@NullMarked
package org.rowankv.rdma;

import org.jspecify.annotations.NullMarked;
