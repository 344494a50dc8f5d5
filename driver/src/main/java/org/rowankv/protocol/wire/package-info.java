/** The bytes between clients and servers: layouts, limits and what cuts a stream into frames. Both ends use the same. */
@NullMarked
package org.rowankv.protocol.wire;

import org.jspecify.annotations.NullMarked;
