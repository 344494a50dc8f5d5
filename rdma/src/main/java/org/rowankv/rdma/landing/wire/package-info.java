/** The bytes between servers: messages, handshake, checksums, refusals. Opens no connection. */
@NullMarked
package org.rowankv.rdma.landing.wire;

import org.jspecify.annotations.NullMarked;
