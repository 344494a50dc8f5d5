/**
 * The fabric between servers over TCP. A thread of the receiver acts as the network card: it lands a message once it
 * has arrived completely, and acknowledges; workers take no part. Needs Netty, which applications with embedded servers
 * omit.
 *
 * <p>{@code docs/protocol.md} describes the bytes, {@code docs/design} the decisions.
 */
@NullMarked
package org.rowankv.rdma.tcp;

import org.jspecify.annotations.NullMarked;
