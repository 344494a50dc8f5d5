/** Reads old entries again, and takes damaged ones from another replica. */
@NullMarked
package org.rowankv.server.scrub;

import org.jspecify.annotations.NullMarked;
