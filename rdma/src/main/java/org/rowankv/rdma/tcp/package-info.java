/**
 * The fabric between servers over TCP. A thread of the receiver plays the network card: it lands a message when it has
 * arrived whole, and acknowledges; workers take no part. Needs Netty, which whoever only embeds the servers does not have.
 *
 * <p>The bytes are described in {@code docs/PROTOCOL.md}, the decisions in {@code docs/design}.
 */
@NullMarked
package org.rowankv.rdma.tcp;

import org.jspecify.annotations.NullMarked;
