/** The bytes that both ports have in common: the head of a frame, how frames are cut, the prefix of a handshake. No messages. */
@NullMarked
package org.rowankv.protocol.frame;

import org.jspecify.annotations.NullMarked;
