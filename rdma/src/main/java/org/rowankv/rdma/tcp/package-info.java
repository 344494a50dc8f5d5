/**
 * The fabric between servers over TCP: what {@link org.rowankv.rdma.landing} does, carried by sockets. Needs Netty,
 * which applications with embedded servers omit.
 */
@NullMarked
package org.rowankv.rdma.tcp;

import org.jspecify.annotations.NullMarked;
