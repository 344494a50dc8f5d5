/**
 * Moving bytes between machines: the fabric, its queue pairs and receive queues, as an interface of few verbs.
 *
 * <p>Set-up ({@link org.rowankv.rdma.Fabric}, {@link org.rowankv.rdma.Endpoint}) and data path ({@link
 * org.rowankv.rdma.QueuePair}, {@link org.rowankv.rdma.ReceiveQueue}) are separate types. Nothing here knows what a log
 * entry means; the frame that every landing carries is described in {@code org.rowankv.rdma.rowan}.
 */
@NullMarked
package org.rowankv.rdma;

import org.jspecify.annotations.NullMarked;
