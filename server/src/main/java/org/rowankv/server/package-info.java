/** A Rowan-KV server: the wiring of its rooms. */
@NullMarked
package org.rowankv.server;

import org.jspecify.annotations.NullMarked;
