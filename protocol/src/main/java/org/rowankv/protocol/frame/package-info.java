/** Bytes common to both ports: frame head, decoding of frames, prefix of a handshake. No messages. */
@NullMarked
package org.rowankv.protocol.frame;

import org.jspecify.annotations.NullMarked;
