/** Bytes between clients and servers: layouts, limits and frames. Both ends use it; it opens no connection. */
@NullMarked
package org.rowankv.protocol.wire;

import org.jspecify.annotations.NullMarked;
