/** The scrubber: reads old entries again, and repairs damaged ones from another replica. */
@NullMarked
package org.rowankv.server.scrub;

import org.jspecify.annotations.NullMarked;
