/** The native client of Rowan-KV and the session seam it speaks through. */
@NullMarked
package org.rowankv.driver;

import org.jspecify.annotations.NullMarked;
