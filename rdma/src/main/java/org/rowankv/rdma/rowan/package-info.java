/**
 * The Rowan primitive: many senders append to one receiver, whose side places each message, in arrival order, at the
 * next 64-byte stride of the posted segments.
 *
 * <p>{@link org.rowankv.rdma.rowan.FrameDescriptor} is the frame that every log entry begins with, wherever it lies;
 * {@link org.rowankv.rdma.QueuePair#send} appends, {@link org.rowankv.rdma.rowan.RowanReceiver} posts, and
 * {@link org.rowankv.rdma.rowan.LandingCursor} reads what has landed.
 */
@NullMarked
package org.rowankv.rdma.rowan;

import org.jspecify.annotations.NullMarked;
