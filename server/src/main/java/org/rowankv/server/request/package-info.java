/** Reads and mutations on the primary: worker contexts that carry a request to its end. */
@NullMarked
package org.rowankv.server.request;

import org.jspecify.annotations.NullMarked;
