/** What both ends of a connection agree on: status codes, the version type, frames. */
@NullMarked
package org.rowankv.protocol;

import org.jspecify.annotations.NullMarked;
