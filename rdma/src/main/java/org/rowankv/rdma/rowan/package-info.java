/**
 * The Rowan primitive: many senders append to one receiver, whose side places each message, in arrival order, at the
 * next 64-byte stride of the posted segments.
 *
 * <p>{@link org.rowankv.rdma.rowan.FrameDescriptor} is the frame at the start of every log entry; {@link
 * org.rowankv.rdma.QueuePair#send} appends, {@link org.rowankv.rdma.rowan.RowanReceiver} posts, and {@link
 * org.rowankv.rdma.rowan.LandingCursor} reads landings.
 */
@NullMarked
package org.rowankv.rdma.rowan;

import org.jspecify.annotations.NullMarked;
