/**
 * The fabrics on which a thread of the receiver acts as the network card: it lands a message once it has arrived
 * completely, and acknowledges; workers take no part. A {@link org.rowankv.rdma.landing.FabricTransport} carries the
 * bytes. Needs Netty, which applications with embedded servers omit.
 *
 * <p>{@code docs/protocol.md} describes the bytes, {@code docs/design} the decisions.
 */
@NullMarked
package org.rowankv.rdma.landing;

import org.jspecify.annotations.NullMarked;
