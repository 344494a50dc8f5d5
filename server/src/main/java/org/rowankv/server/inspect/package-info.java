/** Reads a closed store and changes nothing. */
@NullMarked
package org.rowankv.server.inspect;

import org.jspecify.annotations.NullMarked;
